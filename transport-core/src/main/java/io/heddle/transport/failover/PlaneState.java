package io.heddle.transport.failover;

/** What one end of a connection does with one of its planes; docs/failover.md has the moves. */
public enum PlaneState {
  /** In use. */
  UP,

  /** This end's queue pairs were moved to ERROR, and their completions are being taken. */
  FENCING,

  /** This end is fenced and has said so; the other end hasn't yet. */
  FENCED,

  /** Both ends are fenced, and what was unknown is settled. */
  DOWN,

  /**
   * Fresh queue pairs exist here. The sender waits for those of the receiver, the receiver for the
   * sender's word.
   */
  OPENING,

  /** At the sender: the fresh queue pairs are connected, and a probe is under way on each. */
  PROBING;

  /** Whether queue pairs exist that may still do something. */
  boolean isLive() {
    return this == UP || this == OPENING || this == PROBING;
  }
}
