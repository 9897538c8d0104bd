package io.heddle.transport.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Right to touch a communicator's data path. NCCL's thread holds it during each call. The control
 * thread holds it while it moves the connection off a plane, so that a failover needn't wait for
 * NCCL's next call.
 *
 * <p>NCCL's thread never waits: without the baton its call does nothing, and NCCL calls again. The
 * control thread waits for the end of the call that holds it.
 *
 * <p>Pairing: {@link #release} releases {@code held}, {@link #tryTake} and {@link #take} acquire
 * it.
 */
public final class Baton {
  private static final int SPINS = 100;
  private static final long PAUSE_NS = 20_000;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(Baton.class, "held", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @SuppressWarnings("unused") /* by HELD */
  private int held;

  /*
   * Request of the control thread; without this field a busy NCCL thread would take the baton again
   * and again.
   */
  private volatile boolean wanted;

  /** Takes the baton unless it is held or requested. NCCL's thread. */
  public boolean tryTake() {
    return !wanted && HELD.weakCompareAndSetAcquire(this, 0, 1);
  }

  /**
   * Spins until it has the baton; a request of the control thread comes first. Any other thread, in
   * rare calls.
   */
  public void spinUntilTaken() {
    while (!tryTake()) {
      Thread.onSpinWait();
    }
  }

  /** Waits for the baton. Control thread only. */
  public void take() {
    wanted = true;
    for (int tries = 0; !HELD.weakCompareAndSetAcquire(this, 0, 1); tries++) {
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
    wanted = false;
  }

  /** Releases the baton. */
  public void release() {
    HELD.setRelease(this, 0);
  }
}
