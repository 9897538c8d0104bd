package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a loop watches besides its work: whether the peer is still there, and that a loop without
 * work lets others run on its core. The loop's thread only; no allocation.
 */
final class RunGuard {
  private static final int LOOK_EVERY = 1 << 10;
  /* A yield costs more than a look, and most of it after each switch: so one in this many rounds. */
  private static final int PATIENCE_ROUNDS = 1 << 11;
  /* With the timer's slack and the way back onto the core, a nap lasts up to twice as long. */
  private static final long NAP_NS = 50_000;
  /* What 400 Gb/s bring in twice the time: an end that has receives for that many bytes may nap. */
  private static final long NAP_BYTES = 5_000_000;
  /* A peer that has all it wants may close while this end still waits for its last acknowledgement. */
  private static final long GRACE_NS = 1_000_000_000L;

  private static final long NEVER_NS = Long.MAX_VALUE;

  private final @Nullable ControlConnection peer;
  private final long limitNs;
  private final boolean naps;
  private final long startNs = System.nanoTime();
  private int rounds;
  private int idleRounds;
  private long endedNs;
  private boolean stopped;

  /**
   * @param peer the connection whose end ends the loop
   */
  RunGuard(ControlConnection peer) {
    this(peer, NEVER_NS, false);
  }

  private RunGuard(@Nullable ControlConnection peer, long limitNs, boolean naps) {
    this.peer = peer;
    this.limitNs = limitNs;
    this.naps = naps;
  }

  /**
   * For a loop that only receives. One that waits in vain gets half of a core that it shares,
   * however often it yields: where its receives last longer than a nap, it naps.
   *
   * @param postedBytes how much the receives that are posted take
   */
  static RunGuard ofReceiver(ControlConnection peer, long postedBytes) {
    return new RunGuard(peer, NEVER_NS, postedBytes >= NAP_BYTES);
  }

  /** For a loop without a peer to lose, that may not last longer than this. */
  static RunGuard within(long limitNs) {
    return new RunGuard(null, limitNs, false);
  }

  /**
   * Called once a round.
   *
   * @param work what was done in it
   * @return false when the loop has to end
   */
  boolean mayGoOn(int work) {
    if (work != 0) {
      idleRounds = 0;
    } else if (++idleRounds > PATIENCE_ROUNDS) {
      idleRounds = 0;
      giveWay();
    }
    if ((++rounds & LOOK_EVERY - 1) == 0) {
      look();
    }
    return !stopped;
  }

  private void giveWay() {
    if (naps) {
      LockSupport.parkNanos(NAP_NS);
    } else {
      Thread.yield();
    }
  }

  private void look() {
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
   * @param progress how far the loop came
   * @throws HeddleException when the peer was lost or the time was up
   */
  void throwIfStopped(String progress) {
    if (stopped) {
      throw peer != null
          ? peer.gone(" in mid-test, after " + progress)
          : new HeddleException("the time was up after " + progress);
    }
  }
}
