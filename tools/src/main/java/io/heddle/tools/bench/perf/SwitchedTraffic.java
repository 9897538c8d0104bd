package io.heddle.tools.bench.perf;

import java.io.IOException;

/** Traffic over leaves that balance load, measured on request. */
sealed interface SwitchedTraffic extends AutoCloseable permits SwitchedContestant, RxeContestant {
  /**
   * Result of one measurement.
   *
   * @param goodputGbps received payload, Gbit/s
   * @param messageP99Ms 99th percentile of the message times, ms; NaN if unknown
   * @param spuriousRetransmissions share of needless retransmissions, whose first copy had arrived,
   *     in the sent packets; NaN if nothing was sent
   */
  record Sample(double goodputGbps, double messageP99Ms, double spuriousRetransmissions) {}

  /** Returns the share of payload in the wire bytes of a full packet. */
  double payloadShare();

  /** Waits until the traffic is ready to be measured. */
  void awaitWarm() throws InterruptedException;

  Sample sample() throws IOException, InterruptedException;

  /** Waits until the traffic has ended after the last measurement. */
  void awaitEnd() throws InterruptedException;

  @Override
  void close() throws IOException;
}
