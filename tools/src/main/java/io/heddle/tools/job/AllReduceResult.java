package io.heddle.tools.job;

import java.util.List;
import java.util.Locale;

/**
 * Row of the result table, with columns as defined by nccl-tests.
 *
 * @param bytes size of the all-reduce
 * @param count number of elements
 * @param iterations number of all-reduces
 * @param timeUs mean time of an iteration on the slowest rank, µs
 * @param algbwGigabytesPerSecond size ÷ time, in 10^9 bytes per second
 * @param busbwGigabytesPerSecond algbw × 2(n−1)/n for n ranks, which is the load of each rank's
 *     links, in 10^9 bytes per second
 * @param wrong number of wrong elements over all ranks
 */
public record AllReduceResult(
    long bytes,
    long count,
    int iterations,
    double timeUs,
    double algbwGigabytesPerSecond,
    double busbwGigabytesPerSecond,
    long wrong) {
  public static final String HEAD =
      """
      #       size         count    type   redop       time    algbw    busbw  #wrong
      #        (B)    (elements)                       (us)   (GB/s)   (GB/s)
      """;

  /**
   * Combines the reports of all ranks about one size.
   *
   * @param ranks one report per rank
   */
  public static AllReduceResult of(List<AllReduceEvent.Size> ranks) {
    double timeUs = 0;
    long wrong = 0;
    for (AllReduceEvent.Size size : ranks) {
      timeUs = Math.max(timeUs, size.timeUs());
      wrong += size.wrong();
    }
    AllReduceEvent.Size first = ranks.getFirst();
    double algbw = timeUs > 0 ? first.bytes() / timeUs / 1_000 : 0;
    int n = ranks.size();
    return new AllReduceResult(
        first.bytes(),
        first.count(),
        first.iterations(),
        timeUs,
        algbw,
        algbw * 2 * (n - 1) / n,
        wrong);
  }

  public String line() {
    return String.format(
        Locale.ROOT,
        "%12d  %12d   float     sum %10.1f %8.3f %8.3f %7d",
        bytes,
        count,
        timeUs,
        algbwGigabytesPerSecond,
        busbwGigabytesPerSecond,
        wrong);
  }
}
