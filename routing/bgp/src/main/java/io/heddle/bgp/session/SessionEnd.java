package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import java.util.List;

/**
 * Why a session, or an attempt at one, ended.
 *
 * @param cause which kind of thing it was
 * @param why the sentence for the log and the doctor, with the values
 * @param kept families whose routes the peer asked us to keep while it restarts (RFC 4724); {@link
 *     SessionListener#dropStaleRoutes} says when that is over
 */
public record SessionEnd(Cause cause, String why, List<AddressFamily> kept) {
  public SessionEnd {
    kept = List.copyOf(kept);
  }

  public boolean keeps(AddressFamily family) {
    return kept.contains(family);
  }

  /** Who or what ended it. */
  public enum Cause {
    /** TCP didn't connect. */
    UNREACHABLE,
    /** TCP ended, or the peer connected anew. */
    CONNECTION_LOST,
    /** The peer sent a NOTIFICATION. */
    PEER_ENDED_IT,
    /** The peer ended it and wants nothing kept (RFC 8538). */
    HARD_RESET,
    /** The peer sent what can't be. */
    PEER_MALFORMED,
    /** The peer isn't whom the configuration names, or can't do what is needed. */
    NOT_ACCEPTABLE,
    /** The peer said nothing for too long. */
    HOLD_TIMER,
    /** The peer took nothing for too long (RFC 9687). */
    SEND_HOLD_TIMER,
    /** BFD found the way to the peer dead. */
    BFD,
    /** The interface is down or has lost its carrier. */
    LINK_DOWN,
    /** This side was told to. */
    STOPPED,
    /** Two connections with the same peer: this one was too many. */
    COLLISION
  }
}
