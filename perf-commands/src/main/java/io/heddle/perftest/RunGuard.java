package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import org.jspecify.annotations.Nullable;

/**
 * What a loop watches besides its work: whether the peer is still there, and that a loop without
 * work lets others run on its core. The loop's thread only; no allocation.
 */
final class RunGuard {
  private static final int LOOK_EVERY = 1 << 8;
  private static final int PATIENCE_ROUNDS = 1 << 11;
  /* A peer that has all it wants may close while this end still waits for its last acknowledgement. */
  private static final long GRACE_NS = 1_000_000_000L;

  private final @Nullable ControlConnection peer;
  private int rounds;
  private int idleRounds;
  private long endedNs;
  private boolean peerLost;

  /**
   * @param peer the connection whose end ends the loop, or null where there's no peer to lose
   */
  RunGuard(@Nullable ControlConnection peer) {
    this.peer = peer;
  }

  /**
   * Called once a round.
   *
   * @param work what was done in it
   * @return false when the peer is lost
   */
  boolean mayGoOn(int work) {
    if (work != 0) {
      idleRounds = 0;
    } else if (++idleRounds > PATIENCE_ROUNDS) {
      Thread.yield();
    }
    if ((++rounds & LOOK_EVERY - 1) == 0 && peer != null && peer.ended()) {
      long now = System.nanoTime();
      if (endedNs == 0) {
        endedNs = now;
      }
      peerLost = now - endedNs > GRACE_NS;
    }
    return !peerLost;
  }

  /**
   * @param progress how far the loop came
   * @throws HeddleException when the peer was lost
   */
  void throwIfLost(String progress) {
    if (peerLost && peer != null) {
      throw peer.gone(" in mid-test, after " + progress);
    }
  }
}
