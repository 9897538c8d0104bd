package io.heddle.tools.lab;

import io.heddle.platform.Log;
import io.heddle.tools.switching.LabSwitch;
import io.heddle.tools.switching.LabSwitches;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Check of a lab's load-balancing switches, with two tiers of four links each. It sends flows of
 * data packets and of protocol packets. Separate nftables rules count the packets on every link.
 */
final class SwitchingCheck {
  static final int LINKS = 4;
  private static final int FLOWS = 64;
  private static final int FIRST_PORT = 50_000;
  private static final int ROUNDS = 100;
  private static final int MOST_TURNS = 40;
  private static final int AFTER_FAILURE = 20;
  private static final double EVEN_WITHIN = 0.05;

  /**
   * Least number of pairs of links that the flows must use with independent hashes. 64 flows then
   * use nearly all 16 pairs; with equal hashes they use only 4.
   */
  private static final int LEAST_PAIRS = 12;

  private static final long FAILURE_SECONDS = 10;
  private static final long POLL_MS = 10;

  private final HashLab lab;

  SwitchingCheck(HashLab lab) {
    this.lab = lab;
  }

  /**
   * Result of the check in one mode.
   *
   * @param mode hash, spray or spraylink
   * @param polarised whether all switches had the same hash
   * @param flows number of flows
   * @param protocolOnOneLink number of flows whose protocol packets stayed on one link of each
   *     switch
   * @param dataOnOneLink number of flows whose data packets stayed on one link of each switch
   * @param dataOnAllLinks number of flows whose data packets crossed every link of the leaf and of
   *     the spines
   * @param uneven excess of data packets on the leaf's most loaded link, as a share of the mean
   * @param linkPairs number of pairs of a leaf's link and a spine's link that protocol packets
   *     used, of 16
   * @param avoidsFailedLink whether all packets arrived over the other links after a link was set
   *     down
   * @param passed whether the check passed
   */
  record Row(
      String mode,
      boolean polarised,
      int flows,
      int protocolOnOneLink,
      int dataOnOneLink,
      int dataOnAllLinks,
      double uneven,
      int linkPairs,
      boolean avoidsFailedLink,
      boolean passed) {}

  Row check(FabricSwitching how) {
    List<LabSwitch> switches = lab.switches(how.polarised());
    try (LabSwitches running =
            LabSwitches.start(switches, how.mode(), SprayScope.GLOBAL, Log.toStandardError());
        RoceFlows flows = new RoceFlows(lab, FIRST_PORT, FLOWS)) {
      lab.resetCounters();
      Row row;
      int turns = 0;
      do {
        flows.send(ROUNDS, true);
        flows.send(2, false);
        row = row(how, false);
      } while (!isPassed(row, how) && ++turns < MOST_TURNS);
      boolean leftOut = avoidsFailedLink(running, flows);
      Row whole = row(how, leftOut, row);
      running.remove();
      return whole;
    }
  }

  private static boolean isPassed(Row row, FabricSwitching how) {
    boolean sprays =
        how.mode() == SwitchingMode.HASH
            ? row.dataOnOneLink() == FLOWS
            : row.dataOnAllLinks() == FLOWS && row.uneven() <= EVEN_WITHIN;
    boolean pairs = how.polarised() ? row.linkPairs() <= LINKS : row.linkPairs() >= LEAST_PAIRS;
    return row.protocolOnOneLink() == FLOWS && sprays && pairs;
  }

  private Row row(FabricSwitching how, boolean leftOut, Row from) {
    return new Row(
        from.mode(),
        from.polarised(),
        from.flows(),
        from.protocolOnOneLink(),
        from.dataOnOneLink(),
        from.dataOnAllLinks(),
        from.uneven(),
        from.linkPairs(),
        leftOut,
        leftOut && isPassed(from, how));
  }

  private Row row(FabricSwitching how, boolean leftOut) {
    Map<String, Map<Integer, Map<String, Long>>> data = new HashMap<>();
    Map<String, Map<Integer, Map<String, Long>>> protocol = new HashMap<>();
    List<String> nodes = new ArrayList<>(List.of("leaf"));
    nodes.addAll(lab.spines());
    for (String node : nodes) {
      Map<Integer, Map<String, Long>> marked = lab.countedMarked(node);
      data.put(node, marked);
      protocol.put(node, without(lab.counted(node), marked));
    }
    int protocolOnOne = 0;
    int dataOnOne = 0;
    int dataOnAll = 0;
    Set<String> pairs = new HashSet<>();
    for (int port = FIRST_PORT; port < FIRST_PORT + FLOWS; port++) {
      Set<String> used = linkPairs(protocol, port);
      pairs.addAll(used);
      protocolOnOne += used.size() == 1 ? 1 : 0;
      int dataWays = linkPairs(data, port).size();
      dataOnOne += dataWays == 1 ? 1 : 0;
      dataOnAll += dataWays == LINKS * LINKS ? 1 : 0;
    }
    return new Row(
        how.mode().text(),
        how.polarised(),
        FLOWS,
        protocolOnOne,
        dataOnOne,
        dataOnAll,
        uneven(data.getOrDefault("leaf", Map.of())),
        pairs.size(),
        leftOut,
        false);
  }

  private static Map<Integer, Map<String, Long>> without(
      Map<Integer, Map<String, Long>> all, Map<Integer, Map<String, Long>> some) {
    Map<Integer, Map<String, Long>> rest = new HashMap<>();
    all.forEach((port, links) ->
        links.forEach((link, packets) -> {
          long left = packets - some.getOrDefault(port, Map.of()).getOrDefault(link, 0L);
          if (left > 0) {
            rest.computeIfAbsent(port, key -> new HashMap<>()).put(link, left);
          }
        }));
    return rest;
  }

  /* Returns the pairs of a leaf's link and a spine's link that a flow's packets used. */
  private Set<String> linkPairs(Map<String, Map<Integer, Map<String, Long>>> counted, int port) {
    Set<String> pairs = new HashSet<>();
    for (String spine : of(counted, "leaf", port).keySet()) {
      of(counted, spine, port).keySet().forEach(core -> pairs.add(spine + " " + core));
    }
    return pairs;
  }

  private static Map<String, Long> of(
      Map<String, Map<Integer, Map<String, Long>>> counted, String node, int port) {
    return counted.getOrDefault(node, Map.of()).getOrDefault(port, Map.of());
  }

  private static double uneven(Map<Integer, Map<String, Long>> flows) {
    Map<String, Long> links = new HashMap<>();
    flows
        .values()
        .forEach(each -> each.forEach((link, packets) -> links.merge(link, packets, Long::sum)));
    double all = links.values().stream().mapToLong(Long::longValue).sum();
    long most = links.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return all == 0 ? 0 : most * LINKS / all - 1;
  }

  /*
   * Sets a link of the leaf down. Returns whether the leaf stops using it and all further packets
   * arrive over the other links.
   */
  private boolean avoidsFailedLink(LabSwitches running, RoceFlows flows) {
    String failing = lab.spines().get(1);
    lab.setUp("leaf", failing, false);
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(FAILURE_SECONDS);
      while (running.counts().stream()
          .anyMatch(
              each -> each.at().equals("leaf") && each.link().equals(failing) && each.alive())) {
        if (System.nanoTime() - deadline > 0) {
          return false;
        }
        FabricDaemons.pause(POLL_MS);
      }
      lab.resetCounters();
      flows.send(AFTER_FAILURE, true);
      flows.send(AFTER_FAILURE, false);
      return haveArrived(2L * AFTER_FAILURE * FLOWS);
    } finally {
      lab.setUp("leaf", failing, true);
    }
  }

  /* Returns whether this many packets have arrived. Waits for packets that are in flight. */
  private boolean haveArrived(long sent) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(FAILURE_SECONDS);
    while (arrived() != sent) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      FabricDaemons.pause(POLL_MS);
    }
    return true;
  }

  private long arrived() {
    return lab.counted("exit").values().stream()
        .flatMap(links -> links.values().stream())
        .mapToLong(Long::longValue)
        .sum();
  }
}
