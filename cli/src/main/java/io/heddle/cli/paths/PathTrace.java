package io.heddle.cli.paths;

import io.heddle.cli.paths.PathsMeasurement.NextRouters;
import io.heddle.cli.paths.PathsMeasurement.PortPath;
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
 * Trace of the path of each source port, hop by hop. Unanswered probes are repeated at a decreasing
 * rate, since routers limit the rate of their replies. Ports without a reply count as silent at a
 * hop only after several rounds without any reply. Used by one thread.
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
  private final SortedMap<Integer, List<@Nullable String>> paths = new TreeMap<>();
  private final Set<Integer> ended = new TreeSet<>();
  private double perSecond;
  private long nextSendNs;
  private boolean reached;

  /**
   * Creates a trace.
   *
   * @param perSecond maximum number of probes per second
   * @param progress consumer of progress messages
   */
  PathTrace(Prober prober, String peer, int mostHops, double perSecond, Consumer<String> progress) {
    this.prober = prober;
    this.peer = peer;
    this.mostHops = mostHops;
    this.perSecond = perSecond;
    this.progress = progress;
    nextSendNs = prober.nowNs();
  }

  /** Traces these ports to the peer, or to the last hop that replies. */
  void trace(Collection<Integer> ports) {
    ports.forEach(port -> paths.put(port, new ArrayList<@Nullable String>()));
    int silentHops = 0;
    for (int hop = 1; hop <= mostHops && silentHops < SILENT_HOPS; hop++) {
      Set<Integer> missing = new TreeSet<>(ports);
      missing.removeAll(ended);
      if (missing.isEmpty()) {
        return;
      }
      for (int port : missing) {
        path(port).add(null);
      }
      silentHops = probe(missing, hop) ? 0 : silentHops + 1;
    }
  }

  private List<@Nullable String> path(int port) {
    return paths.computeIfAbsent(port, unknown -> new ArrayList<@Nullable String>());
  }

  /* Probes a hop; returns whether any reply arrived. */
  private boolean probe(Set<Integer> missing, int hop) {
    int all = missing.size();
    int quiet = 0;
    int scouts = 0;
    while (!missing.isEmpty() && quiet < QUIET_ROUNDS) {
      int before = missing.size();
      List<Integer> probed = List.copyOf(missing);
      if (before == all && all > SCOUTS) {
        /*
         * The hop hasn't replied yet and may be silent, so only a few ports are probed in this
         * round.
         */
        int first = scouts++ * SCOUTS % (all - SCOUTS + 1);
        probed = probed.subList(first, first + SCOUTS);
      }
      for (int port : probed) {
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
      while (anyOf(probed, missing) && prober.nowNs() < until) {
        take(prober.receive(until), missing, hop);
      }
      int answered = before - missing.size();
      quiet = answered == 0 ? quiet + 1 : 0;
      if (answered > 0 && answered < probed.size() / 2) {
        perSecond = Math.max(Math.min(SLOWEST_PER_SECOND, perSecond), perSecond / 2);
      }
    }
    return missing.size() < all;
  }

  private static boolean anyOf(List<Integer> probed, Set<Integer> missing) {
    return probed.stream().anyMatch(missing::contains);
  }

  /* Records a reply. A late reply to a probe of an earlier hop fills in that hop. */
  private void take(Prober.@Nullable Reply reply, Set<Integer> missing, int hop) {
    if (reply == null || reply.hop() > hop || !paths.containsKey(reply.port())) {
      return;
    }
    List<@Nullable String> path = path(reply.port());
    if (reply.hop() <= path.size() && path.get(reply.hop() - 1) == null) {
      path.set(reply.hop() - 1, reply.router());
    }
    if (reply.hop() == hop) {
      missing.remove(reply.port());
    }
    if (reply.ends() || reply.router().equals(peer)) {
      ended.add(reply.port());
      reached |= reply.router().equals(peer);
    }
  }

  /**
   * Returns how many more flows are needed until the next hops of every router are known with the
   * confidence {@link StoppingRule#WANTED}; 0 or less if none.
   */
  int missingFlows() {
    int most = 0;
    for (NextRouters group : groups()) {
      if (!group.routers().isEmpty()) {
        most = Math.max(most, StoppingRule.flows(group.routers().size()) - group.flows());
      }
    }
    return most;
  }

  int portCount() {
    return paths.size();
  }

  private int length() {
    int length = 0;
    for (List<@Nullable String> path : paths.values()) {
      for (int hop = 1; hop <= path.size(); hop++) {
        length = path.get(hop - 1) == null ? length : Math.max(length, hop);
      }
    }
    return length;
  }

  private List<NextRouters> groups() {
    List<NextRouters> groups = new ArrayList<>();
    for (int hop = 1; hop <= length(); hop++) {
      SortedMap<String, SortedMap<String, Integer>> next = new TreeMap<>();
      SortedMap<String, Integer> silent = new TreeMap<>();
      for (List<@Nullable String> path : paths.values()) {
        if (path.size() < hop) {
          continue;
        }
        String before = hop == 1 ? THIS_HOST : path.get(hop - 2);
        String behind = before == null ? PathsMeasurement.SILENT : before;
        SortedMap<String, Integer> routers =
            next.computeIfAbsent(behind, unknown -> new TreeMap<>());
        String router = path.get(hop - 1);
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
   * Returns the measurement.
   *
   * @param inUse ports that couldn't be measured
   */
  PathsMeasurement result(String source, List<Integer> inUse) {
    int length = length();
    List<PortPath> ports = new ArrayList<>();
    paths.forEach((port, path) -> {
      List<@Nullable String> cut =
          new ArrayList<@Nullable String>(path.subList(0, Math.min(length, path.size())));
      ports.add(new PortPath(port, cut));
    });
    return new PathsMeasurement(source, peer, length, reached, groups(), ports, inUse);
  }
}
