package io.heddle.softroce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Who may touch a device's data-path state. Data-path callers only try; control-path callers wait,
 * and while one waits the tries of others fail, so that a thread that polls without pause can't
 * keep it out.
 *
 * <p>Pairings: a successful compare-and-set acquires what the last {@link #unlock} released. The
 * unlock is a volatile store, so that what its caller reads afterwards (doorbells, the sleeper's
 * deadline) comes after it for everyone: a poster whose try failed has rung its bell before the
 * store, thus the former holder sees the bell.
 */
final class ProgressLock {
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(ProgressLock.class, "held", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final AtomicInteger waiting = new AtomicInteger();

  @SuppressWarnings("unused") /* by HELD */
  private volatile boolean held;

  boolean tryLock() {
    return waiting.get() == 0 && HELD.compareAndSet(this, false, true);
  }

  /** Waits. Control path only. */
  void lock() {
    waiting.incrementAndGet();
    try {
      for (int tries = 0; !HELD.compareAndSet(this, false, true); tries++) {
        if (tries < 100) {
          Thread.onSpinWait();
        } else {
          LockSupport.parkNanos(20_000);
        }
      }
    } finally {
      waiting.decrementAndGet();
    }
  }

  boolean isHeld() {
    return held;
  }

  void unlock() {
    HELD.setVolatile(this, false);
  }
}
