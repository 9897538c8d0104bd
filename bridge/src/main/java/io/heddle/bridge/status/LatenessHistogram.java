package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * Histogram of packet lateness, as counts at an address: eight buckets for each power of two of
 * nanoseconds, so that a value is accurate to an eighth. Its range is 73 minutes; larger values
 * count in the last bucket.
 */
public final class LatenessHistogram {
  private static final int SUB_BITS = 3;
  private static final int SUB = 1 << SUB_BITS;
  private static final int BUCKETS = 40 * SUB;

  /** Length of the histogram. */
  public static final int BYTES = BUCKETS * Long.BYTES;

  private LatenessHistogram() {}

  static int bucket(long ns) {
    if (ns < SUB) {
      return (int) ns;
    }
    int octave = 63 - Long.numberOfLeadingZeros(ns);
    int bucket = (octave - SUB_BITS + 1) * SUB + (int) (ns >>> octave - SUB_BITS & SUB - 1);
    return Math.min(bucket, BUCKETS - 1);
  }

  /** Returns the largest value of a bucket. */
  static long most(int bucket) {
    if (bucket < SUB) {
      return bucket;
    }
    int octave = bucket / SUB + SUB_BITS - 1;
    return (1L << octave) + ((long) (bucket % SUB + 1) << octave - SUB_BITS) - 1;
  }

  /** Counts one value, not negative. */
  public static void record(long address, long ns) {
    long at = address + (long) bucket(ns) * Long.BYTES;
    Memory.setLong(at, Memory.getLong(at) + 1);
  }

  /**
   * Returns the value that this fraction of all values doesn't exceed; −1 if there are no values.
   *
   * @param part the fraction; 0.5 for the median
   */
  public static long quantile(long address, double part) {
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      all += Memory.getLong(address + (long) i * Long.BYTES);
    }
    if (all == 0) {
      return -1;
    }
    long rank = Math.max(1, (long) Math.ceil(part * all));
    long seen = 0;
    int bucket = 0;
    while (bucket < BUCKETS - 1) {
      seen += Memory.getLong(address + (long) bucket * Long.BYTES);
      if (seen >= rank) {
        break;
      }
      bucket++;
    }
    return most(bucket);
  }
}
