package io.heddle.softroce;

import io.heddle.verbs.DeviceContext.CounterReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How trains of 32 KiB and more left a device when they were sent for the first time. Written under
 * the progress lock, read by any thread.
 */
final class LargeTrains {
  private static final VarHandle LENT;
  private static final VarHandle COPIED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      LENT = lookup.findVarHandle(LargeTrains.class, "lent", long.class);
      COPIED = lookup.findVarHandle(LargeTrains.class, "copied", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private long lent;
  private long copied;

  /** One left by its own pages. */
  void addLent() {
    LENT.setOpaque(this, lent + 1);
  }

  /** The kernel copied one. */
  void addCopied() {
    COPIED.setOpaque(this, copied + 1);
  }

  /** Under the progress lock. */
  long lent() {
    return lent;
  }

  void read(CounterReader reader) {
    reader.counter("trains_lent", (long) LENT.getOpaque(this));
    reader.counter("trains_copied", (long) COPIED.getOpaque(this));
  }
}
