package io.heddle.softdevice;

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
      HELD = MethodHandles.lookup().findVarHandle(ProgressLock.class, "held", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final AtomicInteger waiting = new AtomicInteger();

  @SuppressWarnings("unused") /* by HELD */
  private volatile int held;

  boolean tryLock() {
    return waiting.get() == 0 && HELD.compareAndSet(this, 0, 1);
  }

  /** Waits. Control path only. */
  void lock() {
    waiting.incrementAndGet();
    try {
      for (int tries = 0; !HELD.compareAndSet(this, 0, 1); tries++) {
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
    return held != 0;
  }

  void unlock() {
    HELD.setVolatile(this, 0);
  }
}
