package io.heddle.platform;

/** Monotonic time in nanoseconds; the seam through which tests move time by hand. */
@FunctionalInterface
public interface NanoClock {
  /** The clock of the running system. */
  NanoClock SYSTEM = System::nanoTime;

  /** Nanoseconds since an arbitrary origin; compare by subtraction only. */
  long nanoTime();
}
