package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.UpdateMessage;

/** Listener for a session's events, in order. Called on the speaker's thread; must not block. */
public interface SessionListener {
  /**
   * The session is up. Routes of an earlier session that the listener still holds are stale; they
   * come again, or {@link #dropStaleRoutes} follows. Routes announced in this call are our initial
   * dump; End-of-RIB follows automatically.
   */
  void established(PeerSession session, Negotiated negotiated);

  /**
   * Routes were announced or withdrawn. Announcements with our own AS in the AS path are already
   * turned into withdrawals. The session has counted and logged the message's faults.
   */
  void update(PeerSession session, UpdateMessage update);

  /** The initial dump of a family is complete. Not every peer sends End-of-RIB. */
  void endOfRib(PeerSession session, AddressFamily family);

  /** The peer is about to send all routes of a family again: the present ones are stale. */
  void markRoutesStale(PeerSession session, AddressFamily family);

  /** Stale routes of a family that haven't come again are withdrawn. */
  void dropStaleRoutes(PeerSession session, AddressFamily family);

  /**
   * The session is down. Routes of families that {@link SessionEnd#keepsRoutesOf} are stale, those
   * of others are withdrawn.
   */
  void down(PeerSession session, SessionEnd end);

  /** An attempt failed; the next one follows automatically. */
  void attemptFailed(PeerSession session, SessionEnd end);
}
