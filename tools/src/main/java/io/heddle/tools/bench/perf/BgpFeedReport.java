package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Report of {@code heddle perf bgp}, written by the program that feeds the routes.
 *
 * @param peers number of peers that announce routes
 * @param routesPerPeer number of routes that each peer announces
 * @param load load averages of 1, 5 and 15 minutes at the end
 */
record BgpFeedReport(int peers, int routesPerPeer, List<Double> load, List<Run> runs) {
  /**
   * Result of one feed.
   *
   * @param receiver receiving daemon: heddle or bird
   * @param sender bird, or prebuilt for prebuilt UPDATEs
   * @param feed packed: many routes per UPDATE; unpacked: adjacent routes differ in their
   *     attributes, so that each needs its own UPDATE; aggregate: one route for all hosts, and a
   *     few unreachable hosts
   * @param seconds seconds from the first route in the receiver's table (prebuilt: from the first
   *     byte sent) to the last route; 0 for an aggregate
   * @param cpuSeconds processor time of the receiver in seconds
   * @param memoryMb memory of the receiver after the feed, MiB: one value for each of the kernel's
   *     memory fields, by the field's name
   * @param memoryBeforeMb memory of the receiver before the feed, MiB: one value for each of the
   *     kernel's memory fields, by the field's name
   * @param prefixes number of prefixes in the routes file; null for BIRD, which has none
   * @param changeUs times from an UPDATE that changes a single route until the routes file shows
   *     the change, with the whole table present, µs; null if none were made
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
