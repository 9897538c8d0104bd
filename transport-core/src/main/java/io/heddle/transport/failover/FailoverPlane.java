package io.heddle.transport.failover;

import io.heddle.transport.control.ControlMessage.Fenced;
import org.jspecify.annotations.Nullable;

/** Plane as failover at one end of a connection sees it. Control thread only. */
final class FailoverPlane {
  private static final long FIRST_HOLD_NS = 1_000_000_000;
  private static final long LONGEST_HOLD_NS = 60_000_000_000L;
  private static final long LONGEST_PAUSE_NS = 4_000_000_000L;

  /** A plane that fails sooner than this after its return is flapping. */
  private static final long STEADY_NS = 60_000_000_000L;

  final int index;
  final String key;
  PlaneState state = PlaneState.UP;
  int epoch;

  /** The Fenced message that the peer sent before this end's. */
  @Nullable Fenced peersFenced;

  /** Cause and time of its failure. */
  String cause = "";

  long failedAtNs;

  /** The plane with its addresses at the failure, for the log. */
  String description = "";

  private long returnedNs;
  private boolean returned;
  private long holdNs = FIRST_HOLD_NS;

  FailoverPlane(int index, String key) {
    this.index = index;
    this.key = key;
  }

  /** Notes that the plane was in use and failed. */
  void failed(String why, long nowNs) {
    cause = why;
    failedAtNs = nowNs;
    holdNs =
        returned && nowNs - returnedNs < STEADY_NS
            ? Math.min(holdNs * 2, LONGEST_HOLD_NS)
            : FIRST_HOLD_NS;
  }

  /** Notes that the plane was tried and failed again. */
  void retryFailed() {
    holdNs = Math.max(holdNs, Math.min(holdNs * 2, LONGEST_PAUSE_NS));
  }

  void recovered(long nowNs) {
    returned = true;
    returnedNs = nowNs;
  }

  /** Returns the delay before the next try. */
  long holdNs() {
    return holdNs;
  }
}
