package io.heddle.transport.failover;

/** State of one plane at one end of a connection; docs/failover.md has the transitions. */
public enum PlaneState {
  /** In use. */
  UP,

  /** This end's queue pairs were moved to ERROR, and their completions are being polled. */
  FENCING,

  /** This end is fenced and has sent Fenced; the peer hasn't yet. */
  FENCED,

  /** Both ends are fenced, and the chunks in flight are settled. */
  DOWN,

  /**
   * Fresh queue pairs exist at this end. The sender waits for the receiver's queue pairs, and the
   * receiver waits for the sender's PlaneReady.
   */
  OPENING,

  /** At the sender: the fresh queue pairs are connected, and a probe is in flight on each. */
  PROBING;

  /** Returns whether queue pairs exist that may still carry requests. */
  boolean isLive() {
    return this == UP || this == OPENING || this == PROBING;
  }
}
