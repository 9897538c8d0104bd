package io.heddle.stats;

/**
 * Histogram of latencies. Buckets are log-linear, eight per doubling from 1,024 ns on, so a
 * percentile is right within an eighth. The first bucket holds all shorter times, the last one all
 * above 15 s.
 *
 * @param counts number of latencies in each bucket
 */
@SuppressWarnings("ArrayRecordComponent")
public record Latencies(long[] counts) {
  public static final int BUCKETS = 192;

  private static final int FIRST_OCTAVE = 10;
  private static final int STEPS_LOG = 3;
  private static final int STEPS = 1 << STEPS_LOG;

  /** Returns the bucket of a time. Cheap enough for the data path: two shifts and a compare. */
  static int bucket(long ns) {
    if (ns < 1 << FIRST_OCTAVE) {
      return 0;
    }
    int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(ns);
    int step = (int) (ns >>> octave - STEPS_LOG) & STEPS - 1;
    return Math.min(BUCKETS - 1, 1 + (octave - FIRST_OCTAVE << STEPS_LOG) + step);
  }

  /** Returns the upper bound of the times in this bucket; the last bucket also has longer times. */
  public static long boundNs(int bucket) {
    if (bucket == 0) {
      return 1 << FIRST_OCTAVE;
    }
    int octave = FIRST_OCTAVE + (bucket - 1) / STEPS;
    return (long) (STEPS + 1 + (bucket - 1) % STEPS) << octave - STEPS_LOG;
  }

  public static Latencies none() {
    return new Latencies(new long[BUCKETS]);
  }

  public long total() {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  /**
   * Returns the bucket bound below which this part of all times lies.
   *
   * @param part part of all times, from 0 to 1
   * @return 0 if nothing was counted
   */
  public long percentileNs(double part) {
    long total = total();
    if (total == 0) {
      return 0;
    }
    long rank = Math.max(1, (long) Math.ceil(part * total));
    long seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
      seen += counts[i];
      if (seen >= rank) {
        return boundNs(i);
      }
    }
    throw new IllegalStateException("the counts of " + total + " don't reach " + rank);
  }

  /** Returns the approximate sum of all times, each taken as its bucket's middle. */
  public double sumNs() {
    double sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      long lower = i == 0 ? 0 : boundNs(i - 1);
      sum += counts[i] * ((lower + boundNs(i)) / 2.0);
    }
    return sum;
  }

  public Latencies plus(Latencies other) {
    long[] sums = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      sums[i] = counts[i] + other.counts[i];
    }
    return new Latencies(sums);
  }

  /**
   * Returns the counts since an earlier snapshot; each is at least 0, even if a communicator was
   * closed meanwhile.
   */
  public Latencies minus(Latencies earlier) {
    long[] differences = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      differences[i] = Math.max(0, counts[i] - earlier.counts[i]);
    }
    return new Latencies(differences);
  }
}
