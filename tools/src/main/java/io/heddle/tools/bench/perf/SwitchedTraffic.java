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
   * @param goodputGbps received payload, Gbit/s
   * @param messageP99Ms 99th percentile of the message times, ms; NaN if unknown
   * @param spuriousRetransmissions share of needless retransmissions, whose first copy had arrived,
   *     in the sent packets; NaN if nothing was sent
   * @param marked share of ECN-marked packets in all packets that the switches balanced; NaN if
   *     there were none
   */
  record Sample(
      double goodputGbps, double messageP99Ms, double spuriousRetransmissions, double marked) {}

  /** Returns the share of payload in the wire bytes of a full packet. */
  double payloadShare();

  /** Waits until the traffic is ready to be measured. */
  void awaitWarm() throws InterruptedException;

  Sample sample(LabSwitches switching) throws IOException, InterruptedException;

  /** Waits until the traffic has ended after the last measurement. */
  void awaitEnd() throws InterruptedException;

  @Override
  void close() throws IOException;

  /**
   * Returns the share of ECN-marked packets in all packets that the switches balanced between two
   * readings of their counters.
   */
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
