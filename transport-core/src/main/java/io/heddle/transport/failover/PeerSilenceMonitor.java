package io.heddle.transport.failover;

import io.heddle.platform.Log;
import java.util.List;

/**
 * Waits for a peer that answers on none of its planes, where the device tells that from a plane
 * that is lost ({@link io.heddle.verbs.QueuePair#peerSilentNs}): it is slow, and fencing planes
 * would help nobody. It has the grace time, as a connection without a plane has. A peer that is
 * known to have left gets none: its planes have failed. Control thread.
 */
final class PeerSilenceMonitor {
  /** A wait is told of when it has lasted so long. */
  private static final long REPORT_AFTER_NS = 1_000_000_000;

  /** Hears of the ends of a wait. */
  interface Listener {
    /** The peer has begun to be silent on all planes. */
    void silent();

    /** This plane waits for a peer that has left. */
    void left(int plane, String cause);

    /** The wait was too long. */
    void tooLong(long silentNs);
  }

  private final FailoverConnection connection;
  private final long graceNs;
  private final Listener listener;
  private final Log log;
  private boolean silent;
  private long longestNs;

  PeerSilenceMonitor(FailoverConnection connection, long graceNs, Listener listener, Log log) {
    this.connection = connection;
    this.graceNs = graceNs;
    this.listener = listener;
    this.log = log;
  }

  /** Whether none of its planes carries anything now though they are up. */
  boolean isSilent() {
    return silent;
  }

  /** Looks; ten times a second. */
  void check() {
    long silentNs = connection.pairs().peerSilentNs();
    if (silentNs == 0) {
      if (longestNs > REPORT_AFTER_NS) {
        connection.planeLog().answers(connection, longestNs, log);
      }
      silent = false;
      longestNs = 0;
      return;
    }
    if (silentNs > REPORT_AFTER_NS && longestNs <= REPORT_AFTER_NS) {
      connection.planeLog().silent(connection, silentNs, graceNs, log);
    }
    longestNs = Math.max(longestNs, silentNs);
    if (!silent) {
      silent = true;
      listener.silent();
    }
    if (!connection.health().isPeerAlive()) {
      String cause = "no answer for %s ms".formatted(silentNs / 1_000_000);
      List<Integer> waiting = connection.pairs().waitingForPeer();
      waiting.forEach(plane -> listener.left(plane, cause));
    } else if (silentNs > graceNs) {
      listener.tooLong(silentNs);
    }
  }
}
