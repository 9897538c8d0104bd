package io.heddle.cli.paths;

import io.heddle.cli.paths.PathsMeasurement.NextRouters;
import io.heddle.cli.paths.PathsMeasurement.PortWay;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds each port's way hop by hop. What isn't answered is asked again, ever slower while answers
 * stay out, since routers limit how many they give; only after several rounds without any answer a
 * port counts as silent at that hop. One thread.
 */
final class PathTrace {
  static final String THIS_HOST = "this host";

  private static final int QUIET_ROUNDS = 3;
  private static final int SILENT_HOPS = 2;
  private static final int SCOUTS = 8;
  private static final double SLOWEST_PER_SECOND = 4;
  private static final long SECOND_NS = 1_000_000_000;

  private final Prober prober;
  private final String peer;
  private final int mostHops;
  private final Consumer<String> progress;
  private final SortedMap<Integer, List<@Nullable String>> ways = new TreeMap<>();
  private final Set<Integer> ended = new TreeSet<>();
  private double perSecond;
  private long nextSendNs;
  private boolean reached;

  /**
   * @param perSecond probes in a second at most
   * @param progress hears how far it is
   */
  PathTrace(Prober prober, String peer, int mostHops, double perSecond, Consumer<String> progress) {
    this.prober = prober;
    this.peer = peer;
    this.mostHops = mostHops;
    this.perSecond = perSecond;
    this.progress = progress;
    nextSendNs = prober.nowNs();
  }

  /** Follows these ports to the peer, or to where nobody answers any more. */
  void follow(Collection<Integer> ports) {
    ports.forEach(port -> ways.put(port, new ArrayList<@Nullable String>()));
    int silentHops = 0;
    for (int hop = 1; hop <= mostHops && silentHops < SILENT_HOPS; hop++) {
      Set<Integer> missing = new TreeSet<>(ports);
      missing.removeAll(ended);
      if (missing.isEmpty()) {
        return;
      }
      for (int port : missing) {
        way(port).add(null);
      }
      silentHops = ask(missing, hop) ? 0 : silentHops + 1;
    }
  }

  private List<@Nullable String> way(int port) {
    return ways.computeIfAbsent(port, unknown -> new ArrayList<@Nullable String>());
  }

  /* Whether anybody answered. */
  private boolean ask(Set<Integer> missing, int hop) {
    int all = missing.size();
    int quiet = 0;
    int scouts = 0;
    while (!missing.isEmpty() && quiet < QUIET_ROUNDS) {
      int before = missing.size();
      List<Integer> asked = List.copyOf(missing);
      if (before == all && all > SCOUTS) {
        /* Nobody has answered at this hop: it may be silent, so a few at a time ask. */
        int first = scouts++ * SCOUTS % (all - SCOUTS + 1);
        asked = asked.subList(first, first + SCOUTS);
      }
      for (int port : asked) {
        while (prober.nowNs() < nextSendNs) {
          take(prober.receive(nextSendNs), missing, hop);
        }
        if (missing.contains(port)) {
          prober.send(port, hop);
          nextSendNs = prober.nowNs() + (long) (SECOND_NS / perSecond);
        }
        int left = missing.size();
        progress.accept("hop %s: %s of %s ports answered".formatted(hop, all - left, all));
      }
      long until = prober.nowNs() + SECOND_NS;
      while (anyOf(asked, missing) && prober.nowNs() < until) {
        take(prober.receive(until), missing, hop);
      }
      int answered = before - missing.size();
      quiet = answered == 0 ? quiet + 1 : 0;
      if (answered > 0 && answered < asked.size() / 2) {
        perSecond = Math.max(Math.min(SLOWEST_PER_SECOND, perSecond), perSecond / 2);
      }
    }
    return missing.size() < all;
  }

  private static boolean anyOf(List<Integer> asked, Set<Integer> missing) {
    return asked.stream().anyMatch(missing::contains);
  }

  /* Late answers to an earlier hop's probes fill what was silent. */
  private void take(Prober.@Nullable Reply reply, Set<Integer> missing, int hop) {
    if (reply == null || reply.hop() > hop || !ways.containsKey(reply.port())) {
      return;
    }
    List<@Nullable String> way = way(reply.port());
    if (reply.hop() <= way.size() && way.get(reply.hop() - 1) == null) {
      way.set(reply.hop() - 1, reply.router());
    }
    if (reply.hop() == hop) {
      missing.remove(reply.port());
    }
    if (reply.ends() || reply.router().equals(peer)) {
      ended.add(reply.port());
      reached |= reply.router().equals(peer);
    }
  }

  /** How many more flows it takes until every router's next ones are known well enough. */
  int wanting() {
    int most = 0;
    for (NextRouters group : groups()) {
      if (!group.routers().isEmpty()) {
        most = Math.max(most, StoppingRule.flows(group.routers().size()) - group.flows());
      }
    }
    return most;
  }

  int portCount() {
    return ways.size();
  }

  private int length() {
    int length = 0;
    for (List<@Nullable String> way : ways.values()) {
      for (int hop = 1; hop <= way.size(); hop++) {
        length = way.get(hop - 1) == null ? length : Math.max(length, hop);
      }
    }
    return length;
  }

  private List<NextRouters> groups() {
    List<NextRouters> groups = new ArrayList<>();
    for (int hop = 1; hop <= length(); hop++) {
      SortedMap<String, SortedMap<String, Integer>> next = new TreeMap<>();
      SortedMap<String, Integer> silent = new TreeMap<>();
      for (List<@Nullable String> way : ways.values()) {
        if (way.size() < hop) {
          continue;
        }
        String before = hop == 1 ? THIS_HOST : way.get(hop - 2);
        String behind = before == null ? PathsMeasurement.SILENT : before;
        SortedMap<String, Integer> routers =
            next.computeIfAbsent(behind, unknown -> new TreeMap<>());
        String router = way.get(hop - 1);
        if (router == null) {
          silent.merge(behind, 1, Integer::sum);
        } else {
          routers.merge(router, 1, Integer::sum);
        }
      }
      for (var each : next.entrySet()) {
        int flows = each.getValue().values().stream().mapToInt(Integer::intValue).sum();
        int found = each.getValue().size();
        groups.add(
            new NextRouters(
                hop,
                each.getKey(),
                each.getValue(),
                flows,
                silent.getOrDefault(each.getKey(), 0),
                found == 0 ? 0 : StoppingRule.confidence(found, flows)));
      }
    }
    return groups;
  }

  /**
   * What was found.
   *
   * @param inUse ports that couldn't be measured
   */
  PathsMeasurement result(String source, List<Integer> inUse) {
    int length = length();
    List<PortWay> ports = new ArrayList<>();
    ways.forEach((port, way) -> {
      List<@Nullable String> cut =
          new ArrayList<@Nullable String>(way.subList(0, Math.min(length, way.size())));
      ports.add(new PortWay(port, cut));
    });
    return new PathsMeasurement(source, peer, length, reached, groups(), ports, inUse);
  }
}
