package io.heddle.transport.failover;

import io.heddle.transport.control.ControlMessage.Fenced;
import org.jspecify.annotations.Nullable;

/** One plane as one end of a connection sees it. Control thread only. */
final class FailoverPlane {
  private static final long FIRST_HOLD_NS = 1_000_000_000;
  private static final long LONGEST_HOLD_NS = 60_000_000_000L;
  private static final long LONGEST_PAUSE_NS = 4_000_000_000L;

  /** A plane that falls sooner than this after its return flaps. */
  private static final long STEADY_NS = 60_000_000_000L;

  final int index;
  final String key;
  PlaneState state = PlaneState.UP;
  int epoch;

  /** The other end's word that came before ours. */
  @Nullable Fenced theirs;

  /** Why it fell, and when by the clock. */
  String cause = "";

  long fellNs;

  /** The plane with the addresses that it had then, as the log has it. */
  String leftAs = "";

  private long returnedNs;
  private boolean returned;
  private long holdNs = FIRST_HOLD_NS;

  FailoverPlane(int index, String key) {
    this.index = index;
    this.key = key;
  }

  /** It was in use and is no more. */
  void fell(String why, long nowNs) {
    cause = why;
    fellNs = nowNs;
    holdNs =
        returned && nowNs - returnedNs < STEADY_NS
            ? Math.min(holdNs * 2, LONGEST_HOLD_NS)
            : FIRST_HOLD_NS;
  }

  /** It was tried, and didn't carry. */
  void stayedDown() {
    holdNs = Math.max(holdNs, Math.min(holdNs * 2, LONGEST_PAUSE_NS));
  }

  void rose(long nowNs) {
    returned = true;
    returnedNs = nowNs;
  }

  /** How long to wait before it is tried again. */
  long holdNs() {
    return holdNs;
  }
}
