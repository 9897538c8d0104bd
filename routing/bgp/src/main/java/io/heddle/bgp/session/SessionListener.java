package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.UpdateMessage;

/**
 * Hears what a session brings, in the order in which it came. Always on the speaker's thread; may
 * not block.
 */
public interface SessionListener {
  /**
   * The session is up. Routes of an earlier session that the listener still holds are stale; they
   * come again, or {@link #dropStaleRoutes} follows. What the listener announces in this call is
   * our first dump; End-of-RIB follows it by itself.
   */
  void established(PeerSession session, Negotiated negotiated);

  /**
   * Routes came or went. Announcements whose AS path has our own AS in it are already turned into
   * withdrawals. The message may have faults, which the session has counted and logged.
   */
  void update(PeerSession session, UpdateMessage update);

  /** The first dump of a family's routes is complete. Not every peer says so. */
  void endOfRib(PeerSession session, AddressFamily family);

  /** The peer is about to send all its routes of a family again: what it holds now is stale. */
  void routesBecomeStale(PeerSession session, AddressFamily family);

  /** What is stale of a family and hasn't come again is gone. */
  void dropStaleRoutes(PeerSession session, AddressFamily family);

  /**
   * The session is down. Routes of families that {@link SessionEnd#keeps} are stale, those of
   * others are gone.
   */
  void down(PeerSession session, SessionEnd end);

  /** An attempt didn't become a session; the next one follows by itself. */
  void attemptFailed(PeerSession session, SessionEnd end);
}
