package io.heddle.transport.failover;

import io.heddle.platform.Log;
import java.util.List;

/**
 * Monitor of a peer that answers on none of its planes. It depends on a device that distinguishes a
 * silent peer from a lost plane ({@link io.heddle.verbs.QueuePair#peerSilentNs}). Such a peer is
 * slow, and fencing planes wouldn't help. The peer gets the grace time, like a connection without a
 * plane. A peer that is known to have left gets none: its planes fail. Control thread.
 */
final class PeerSilenceMonitor {
  /** Minimum length of a wait for a silent peer that is logged, in ns. */
  private static final long REPORT_AFTER_NS = 1_000_000_000;

  /** Listener of the stages of a wait for a silent peer. */
  interface Listener {
    /** Handles the beginning of a silence on all planes. */
    void onSilence();

    /** Handles a plane that waits for a peer that has left. */
    void onPlaneOfDepartedPeer(int plane, String cause);

    /** Handles a wait that has exceeded the grace time. */
    void onGraceExceeded(long silentNs);
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

  /** Returns whether the peer is silent: no plane carries traffic now, although planes are up. */
  boolean isSilent() {
    return silent;
  }

  /** Checks the peer; called ten times a second. */
  void check() {
    long silentNs = connection.pairs().peerSilentNs();
    if (silentNs == 0) {
      if (longestNs > REPORT_AFTER_NS) {
        connection.planeLog().logAnswering(connection, longestNs, log);
      }
      silent = false;
      longestNs = 0;
      return;
    }
    if (silentNs > REPORT_AFTER_NS && longestNs <= REPORT_AFTER_NS) {
      connection.planeLog().logSilent(connection, silentNs, graceNs, log);
    }
    longestNs = Math.max(longestNs, silentNs);
    if (!silent) {
      silent = true;
      listener.onSilence();
    }
    if (!connection.health().isPeerAlive()) {
      String cause = "no answer for %s ms".formatted(silentNs / 1_000_000);
      List<Integer> waiting = connection.pairs().waitingForPeer();
      waiting.forEach(plane -> listener.onPlaneOfDepartedPeer(plane, cause));
    } else if (silentNs > graceNs) {
      listener.onGraceExceeded(silentNs);
    }
  }
}
