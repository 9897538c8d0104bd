package io.heddle.roce.transport;

import io.heddle.verbs.DeviceContext.CounterReader;

/**
 * How trains of {@link #LEAST_BYTES} and more left a device when they were sent for the first time.
 * Written under the progress lock, read by any thread.
 */
public final class LargeTrains {
  /** Headers included. Below this a copy takes less than the calls that it is spared by. */
  public static final int LEAST_BYTES = 1 << 15;

  private volatile long lent;
  private volatile long copied;

  /** One left by its own pages. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void addLent() {
    lent++;
  }

  /** The kernel copied one. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void addCopied() {
    copied++;
  }

  long lent() {
    return lent;
  }

  public void read(CounterReader reader) {
    reader.counter("trains_lent", lent);
    reader.counter("trains_copied", copied);
  }
}
