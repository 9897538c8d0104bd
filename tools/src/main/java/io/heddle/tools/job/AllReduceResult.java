package io.heddle.tools.job;

import java.util.List;
import java.util.Locale;

/**
 * Line of the table, as defined by nccl-tests.
 *
 * @param bytes size
 * @param count number of elements
 * @param iterations number of all-reduces
 * @param timeUs mean time of an iteration on the slowest rank
 * @param algbwGigabytesPerSecond size ÷ time, 10^9 bytes
 * @param busbwGigabytesPerSecond algbw × 2(n−1)/n, the load of each rank's links
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
   * Combines the reports of all ranks.
   *
   * @param ranks reports of the same size
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
