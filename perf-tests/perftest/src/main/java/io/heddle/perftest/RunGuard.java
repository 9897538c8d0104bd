package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Guard of a loop: it ends the loop if the peer is gone, and yields the core to other threads while
 * the loop has no work. Only the loop's thread uses it, and it allocates nothing.
 */
final class RunGuard {
  private static final int CHECK_EVERY = 1 << 10;
  /*
   * Time for which a loop continues after the peer has closed its connection. A finished peer may
   * close while this end still waits for its last acknowledgement.
   */
  private static final long GRACE_NS = 1_000_000_000L;

  private static final long NEVER_NS = Long.MAX_VALUE;

  private final @Nullable ControlConnection peer;
  private final long limitNs;
  private final IdlePolicy idlePolicy;
  private final long startNs = System.nanoTime();
  private int rounds;
  private long endedNs;
  private boolean stopped;

  private RunGuard(@Nullable ControlConnection peer, long limitNs, IdlePolicy idlePolicy) {
    this.peer = peer;
    this.limitNs = limitNs;
    this.idlePolicy = idlePolicy;
  }

  /**
   * @param peer connection to the peer; the loop must end when the peer closes it
   */
  RunGuard(ControlConnection peer, IdlePolicy idlePolicy) {
    this(peer, NEVER_NS, idlePolicy);
  }

  /** Returns a guard without a peer, which ends the loop after this time. */
  static RunGuard within(long limitNs, IdlePolicy idlePolicy) {
    return new RunGuard(null, limitNs, idlePolicy);
  }

  /**
   * Rests as the idle policy requires, and checks the peer and the time limit. Must be called after
   * each round.
   *
   * @param work number of events in the round
   * @return false if the loop has to end
   */
  boolean mayContinue(int work) {
    switch (idlePolicy.after(work)) {
      case NONE -> {}
      case YIELD -> Thread.yield();
      case NAP -> LockSupport.parkNanos(IdlePolicy.NAP_NS);
    }
    if ((++rounds & CHECK_EVERY - 1) == 0) {
      checkEnd();
    }
    return !stopped;
  }

  private void checkEnd() {
    long now = System.nanoTime();
    stopped = now - startNs > limitNs;
    if (peer != null && peer.ended()) {
      if (endedNs == 0) {
        endedNs = now;
      }
      stopped |= now - endedNs > GRACE_NS;
    }
  }

  /**
   * @param progress progress of the loop
   * @throws HeddleException if the peer was lost or the time was up
   */
  void throwIfStopped(String progress) {
    if (stopped) {
      throw peer != null
          ? peer.gone(" in mid-test, after " + progress)
          : new HeddleException("the time was up after " + progress);
    }
  }
}
