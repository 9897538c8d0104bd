package io.heddle.tools.bench.perf;

import io.heddle.switching.LabSwitches;
import io.heddle.switching.LinkCount;
import java.io.IOException;
import java.util.List;

/** Traffic over leaves that balance load, measured on request. */
sealed interface SwitchedTraffic extends AutoCloseable permits SwitchedContestant, RxeContestant {
  /**
   * Result of one measurement.
   *
   * @param goodputGbps received payload
   * @param messageP99Ms 99th percentile of the message time; NaN if unknown
   * @param spuriousRetransmissions needless retransmissions (the first copy had arrived) ÷ sent
   *     packets; NaN if nothing was sent
   * @param marked ECN-marked packets ÷ all packets that switches balanced; NaN if there were none
   */
  record Sample(
      double goodputGbps, double messageP99Ms, double spuriousRetransmissions, double marked) {}

  /** Returns the rate of a link during the measurement, Gbit/s. */
  double rateGbps();

  /** Returns the payload share of a full packet's bytes on the wire. */
  double payloadShare();

  /** Waits until the traffic is ready to be measured. */
  void awaitWarm() throws InterruptedException;

  Sample sample(PluginPerfPlan.Step step, LabSwitches switching)
      throws IOException, InterruptedException;

  /** Waits for the end after the last measurement. */
  void awaitEnd() throws InterruptedException;

  @Override
  void close() throws IOException;

  /** Returns marked ÷ all packets that switches balanced between two counts. */
  static double marked(List<LinkCount> before, List<LinkCount> after) {
    double marked = marked(after) - marked(before);
    return marked / (marked + others(after) - others(before));
  }

  private static long marked(List<LinkCount> links) {
    return links.stream().mapToLong(LinkCount::markedPackets).sum();
  }

  private static long others(List<LinkCount> links) {
    return links.stream().mapToLong(LinkCount::otherPackets).sum();
  }
}
