package io.heddle.softdevice.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Lock of a device's data-path state. Data-path callers only try to take it; control-path callers
 * wait. While a caller waits, tries of all others fail, so that a busy-polling thread can't starve
 * the waiting one.
 *
 * <p>Pairings: a successful compare-and-set acquires what the last {@link #unlock} released. The
 * unlock is a volatile store. So the unlocking thread's later reads (doorbells, the progress
 * thread's deadline) come after the store for all threads. A poster whose try failed has rung its
 * doorbell before the store, so the former holder sees it.
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

  /** Waits for the lock. Control path only. */
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
