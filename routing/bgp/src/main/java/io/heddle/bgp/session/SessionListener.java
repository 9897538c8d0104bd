package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.UpdateMessage;

/** Listener for a session's events, in order. Called on the speaker's thread; must not block. */
public interface SessionListener {
  /**
   * The session is up. Routes of an earlier session that the listener still holds are stale: the
   * peer announces them again, or {@link #dropStaleRoutes} follows. The routes that the listener
   * announces during this call are our initial dump; the session then sends End-of-RIB.
   */
  void established(PeerSession session, Negotiated negotiated);

  /**
   * Routes were announced or withdrawn. Announced routes that lead back to this speaker, for
   * instance by our AS in their path, are already turned into withdrawn ones. The session has
   * counted and logged the message's faults.
   */
  void update(PeerSession session, UpdateMessage update);

  /**
   * The initial dump of a family is complete, as the peer's End-of-RIB shows. Some peers never send
   * End-of-RIB.
   */
  void endOfRib(PeerSession session, AddressFamily family);

  /** The peer is about to send all routes of a family again: the routes held so far are stale. */
  void markRoutesStale(PeerSession session, AddressFamily family);

  /**
   * Routes of a family that are still stale, because the peer hasn't announced them again, must be
   * dropped.
   */
  void dropStaleRoutes(PeerSession session, AddressFamily family);

  /**
   * The session is down. Routes of the families for which {@link SessionEnd#keepsRoutesOf} returns
   * true become stale; all others must be dropped.
   */
  void down(PeerSession session, SessionEnd end);

  /** An attempt failed; the session retries by itself. */
  void attemptFailed(PeerSession session, SessionEnd end);
}
