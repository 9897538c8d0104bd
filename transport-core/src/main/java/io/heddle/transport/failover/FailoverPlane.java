package io.heddle.transport.failover;

import io.heddle.transport.control.ControlMessage.Fenced;
import org.jspecify.annotations.Nullable;

/** State of one plane in the failover of a connection, at one of its ends. Control thread only. */
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

  /** Fenced message of the peer, if it arrived before this end was fenced; else null. */
  @Nullable Fenced peersFenced;

  /** Cause of the plane's last failure while it was in use. */
  String cause = "";

  /** Time of the failure that {@link #cause} describes, by the control thread's clock. */
  long failedAtNs;

  /** Description of the plane with its addresses at the failure, for the log. */
  String description = "";

  private long returnedNs;
  private boolean returned;
  private long retryDelayNs = FIRST_HOLD_NS;

  FailoverPlane(int index, String key) {
    this.index = index;
    this.key = key;
  }

  /** Records that the plane has failed while it was in use. */
  void failed(String why, long nowNs) {
    cause = why;
    failedAtNs = nowNs;
    retryDelayNs =
        returned && nowNs - returnedNs < STEADY_NS
            ? Math.min(retryDelayNs * 2, LONGEST_HOLD_NS)
            : FIRST_HOLD_NS;
  }

  /** Records that the plane failed again when it was retried. */
  void retryFailed() {
    retryDelayNs = Math.max(retryDelayNs, Math.min(retryDelayNs * 2, LONGEST_PAUSE_NS));
  }

  void recovered(long nowNs) {
    returned = true;
    returnedNs = nowNs;
  }

  /** Returns the delay before the next retry. */
  long retryDelayNs() {
    return retryDelayNs;
  }
}
