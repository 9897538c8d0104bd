package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Report of {@code heddle perf bgp}, written by the feeding program.
 *
 * @param peers number of peers that announce routes
 * @param routesPerPeer routes announced by each peer
 * @param load load averages of 1, 5 and 15 minutes at the end
 */
record BgpFeedReport(int peers, int routesPerPeer, List<Double> load, List<Run> runs) {
  /**
   * Result of one feed.
   *
   * @param receiver receiving daemon: heddle or bird
   * @param sender bird, or prebuilt for prebuilt UPDATEs
   * @param feed packed: many routes per UPDATE; unpacked: adjacent routes differ in their
   *     attributes; aggregate: one route for all hosts, and a few unreachable hosts
   * @param seconds time from the first route held (prebuilt: from the first byte sent) to the last;
   *     0 for an aggregate
   * @param cpuSeconds processor time of the receiver
   * @param memoryMb memory of the receiver after the feed, by the kernel's field names, MiB
   * @param memoryBeforeMb memory of the receiver before the feed
   * @param prefixes number of prefixes in the routes file; null for BIRD, which has none
   * @param changeUs time of single changes with the whole table, from UPDATE to the cell of the
   *     routes file; null if none were made
   */
  record Run(
      String receiver,
      String sender,
      String feed,
      double seconds,
      double cpuSeconds,
      Map<String, Double> memoryMb,
      Map<String, Double> memoryBeforeMb,
      @Nullable Integer prefixes,
      @Nullable List<Integer> changeUs) {}
}
