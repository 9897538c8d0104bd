package io.heddle.cli.bench.perf;

import io.heddle.switching.LabSwitches;
import io.heddle.switching.LinkCount;
import java.io.IOException;
import java.util.List;

/** What goes over leaves whose switches choose, and measures itself when it is asked. */
sealed interface SwitchedTraffic extends AutoCloseable permits SwitchedContestant, RxeContestant {
  /**
   * One measurement.
   *
   * @param goodputGbps payload that arrived
   * @param messageP99Ms time of a message which 99 in 100 don't exceed; NaN where nobody tells
   * @param inVain packets sent again though the first had arrived, ÷ packets sent; NaN where
   *     nothing was sent
   * @param marked packets with a mark ÷ all that switches chose for; NaN where there were none
   */
  record Sample(double goodputGbps, double messageP99Ms, double inVain, double marked) {}

  /** What a link carries while this is measured, Gbit/s. */
  double rateGbps();

  /** Of a full packet's bytes on the wire, how many are payload. */
  double payloadShare();

  /** Waits until it is ready to be measured. */
  void awaitWarm() throws InterruptedException;

  Sample sample(PluginPerfPlan.Step step, LabSwitches switching)
      throws IOException, InterruptedException;

  /** Waits for its end after the last measurement. */
  void awaitEnd() throws InterruptedException;

  @Override
  void close() throws IOException;

  /** Marked packets ÷ all, of what switches chose for between two counts. */
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
