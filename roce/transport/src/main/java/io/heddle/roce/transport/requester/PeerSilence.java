package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.window.RetryTimer;
import org.jspecify.annotations.Nullable;

/**
 * Silence of a requester's peer: the last packet from the peer, and the start of a silence on all
 * paths that suspends the retry limit. Used under the progress lock, except {@link #lengthNs}.
 */
final class PeerSilence {
  private @Nullable PeerGroup peerGroup;
  private long heardAtNs;
  private volatile long sinceNs = Pause.NEVER_NS;

  /**
   * @param others queue pairs to the same peer, or null for none
   */
  void start(@Nullable PeerGroup others, long nowNs) {
    peerGroup = others;
    heardAtNs = nowNs;
  }

  /** Records a packet from the peer on this path. */
  void onPeerPacket(long nowNs) {
    heardAtNs = nowNs;
  }

  long heardAtNs() {
    return heardAtNs;
  }

  /** Returns the time of the last packet from the peer on any path. */
  long peerHeardAtNs() {
    PeerGroup others = peerGroup;
    return others == null ? heardAtNs : others.heardAtNs();
  }

  /** Processes a timeout. Returns whether a silence of all paths begins with it. */
  boolean onTimeout(RetryTimer retries, long nowNs) {
    boolean before = sinceNs != Pause.NEVER_NS;
    long since = Pause.NEVER_NS;
    if (retries.isLimitSuspended(nowNs)) {
      long progressNs = retries.progressAtNs();
      long heard = peerHeardAtNs();
      since = heard - progressNs > 0 ? heard : progressNs;
    }
    sinceNs = since;
    return !before && since != Pause.NEVER_NS;
  }

  /** Ends the silence, because progress was made or nothing is outstanding. */
  void end() {
    sinceNs = Pause.NEVER_NS;
  }

  /** Returns the length of the silence; 0 if there is none. Any thread may call this. */
  long lengthNs(long nowNs) {
    long since = sinceNs;
    return since == Pause.NEVER_NS ? 0 : Math.max(1, nowNs - since);
  }
}
