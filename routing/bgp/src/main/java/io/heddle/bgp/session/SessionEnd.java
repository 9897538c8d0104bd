package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import java.util.List;

/**
 * End of a session or of an attempt.
 *
 * @param cause kind of end
 * @param why reason as a sentence with the values, for the log and {@code heddle doctor}
 * @param kept families whose routes the peer asked us to keep while it restarts (RFC 4724), until
 *     {@link SessionListener#dropStaleRoutes}
 */
public record SessionEnd(Cause cause, String why, List<AddressFamily> kept) {
  public SessionEnd {
    kept = List.copyOf(kept);
  }

  public boolean keepsRoutesOf(AddressFamily family) {
    return kept.contains(family);
  }

  /** Kind of end. */
  public enum Cause {
    /** TCP didn't connect. */
    UNREACHABLE,
    /** TCP ended, or the peer made another connection. */
    CONNECTION_LOST,
    /** The peer sent a NOTIFICATION. */
    NOTIFICATION_RECEIVED,
    /**
     * The peer ended the session by a NOTIFICATION after which no routes may be kept (RFC 8538).
     */
    HARD_RESET,
    /** The peer sent a malformed message. */
    PEER_MALFORMED,
    /** The peer isn't the configured one, or lacks a needed capability. */
    OPEN_REJECTED,
    /** The hold timer expired. */
    HOLD_TIMER,
    /** The send hold timer expired (RFC 9687). */
    SEND_HOLD_TIMER,
    /** BFD detected a broken path to the peer. */
    BFD,
    /** The interface is down or has lost its carrier. */
    LINK_DOWN,
    /** This side ended the session by command. */
    STOPPED,
    /** Two connections collided: the other connection stays. */
    COLLISION;

    /**
     * Returns whether the session rejects connections for the idle hold time: only after errors
     * that would probably repeat. If two speakers also did so after a lost connection, they could
     * reject each other's attempts for ever.
     */
    boolean deservesPenalty() {
      return switch (this) {
        case NOTIFICATION_RECEIVED, HARD_RESET, PEER_MALFORMED, OPEN_REJECTED -> true;
        case UNREACHABLE,
            CONNECTION_LOST,
            HOLD_TIMER,
            SEND_HOLD_TIMER,
            BFD,
            LINK_DOWN,
            STOPPED,
            COLLISION ->
            false;
      };
    }
  }
}
