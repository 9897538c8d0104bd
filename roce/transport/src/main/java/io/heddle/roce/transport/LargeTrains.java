package io.heddle.roce.transport;

import io.heddle.verbs.DeviceContext.CounterReader;

/**
 * Counters of a device's first transmissions of trains of at least {@link #LEAST_BYTES}: with and
 * without copy. Written under the progress lock, read by any thread.
 */
public final class LargeTrains {
  /** Minimum length, headers included. Below it a copy costs less than the calls that avoid it. */
  public static final int LEAST_BYTES = 1 << 15;

  private volatile long zeroCopy;
  private volatile long copied;

  /** Counts a train sent without a copy, from its own pages. */
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
