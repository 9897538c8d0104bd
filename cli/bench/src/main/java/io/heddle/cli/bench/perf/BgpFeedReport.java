package io.heddle.cli.bench.perf;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code heddle perf bgp} measured, as the program that feeds writes it.
 *
 * @param peers that announce routes
 * @param routesPerPeer of each of them
 * @param load of the machine at the end, means of 1, 5 and 15 minutes
 */
record BgpFeedReport(int peers, int routesPerPeer, List<Double> load, List<Run> runs) {
  /**
   * One feed.
   *
   * @param receiver heddle or bird
   * @param sender bird, or prebuilt UPDATEs
   * @param feed packed: many routes an UPDATE; unpacked: neighbours in the feed differ in their
   *     attributes; aggregate: one route for all, and some hosts that are unreachable
   * @param seconds from the first route held (prebuilt: from the first byte sent) to the last; 0
   *     for an aggregate
   * @param cpuSeconds of the receiver's processor time
   * @param memoryMb of the receiver after the feed, by the kernel's names, in MiB
   * @param memoryBeforeMb the same before it
   * @param prefixes in the routes file; null for BIRD, which has none
   * @param changeUs how long single changes took with the whole table, from UPDATE to cell; null
   *     where none were made
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
