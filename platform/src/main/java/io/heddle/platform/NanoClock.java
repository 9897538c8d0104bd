package io.heddle.platform;

/** Monotonic clock in nanoseconds; tests replace it to control time. */
@FunctionalInterface
public interface NanoClock {
  /** Clock of the running system. */
  NanoClock SYSTEM = System::nanoTime;

  /** Returns nanoseconds since an arbitrary origin; compare by subtraction only. */
  long nanoTime();
}
