package io.heddle.roce.transport;

import io.heddle.verbs.DeviceContext.CounterReader;

/**
 * Counters of a device's first transmissions of large trains, which have at least {@link
 * #LEAST_BYTES}. Trains that the kernel copied and trains sent without a copy are counted
 * separately. Written under the progress lock, read by any thread.
 */
public final class LargeTrains {
  /**
   * Minimum length of a large train, headers included. A copy of a shorter train costs less than
   * the calls that avoid the copy.
   */
  public static final int LEAST_BYTES = 1 << 15;

  private volatile long zeroCopy;
  private volatile long copied;

  /** Counts a train that was sent without a copy, from the pages that it was built in. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void addZeroCopy() {
    zeroCopy++;
  }

  /** Counts a train that the kernel copied. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void addCopied() {
    copied++;
  }

  long zeroCopy() {
    return zeroCopy;
  }

  public void read(CounterReader reader) {
    reader.counter("trains_zero_copy", zeroCopy);
    reader.counter("trains_copied", copied);
  }
}
