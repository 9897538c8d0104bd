package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.window.RetryTimer;
import org.jspecify.annotations.Nullable;

/**
 * When a requester heard of its peer last, and since when the peer is silent on all ways, where
 * that alone keeps the requester from being given up. Under the progress lock, but for {@link
 * #lengthNs}.
 */
final class PeerSilence {
  private @Nullable Companions companions;
  private long heardAtNs;
  private volatile long sinceNs = Pause.NEVER_NS;

  /**
   * @param others that lead to the same peer, or null where this one is alone
   */
  void start(@Nullable Companions others, long nowNs) {
    companions = others;
    heardAtNs = nowNs;
  }

  /** Something of the peer's has come this way. */
  void heard(long nowNs) {
    heardAtNs = nowNs;
  }

  long heardAtNs() {
    return heardAtNs;
  }

  /** When something of the peer's came last, by whichever way. */
  long peerHeardAtNs() {
    Companions others = companions;
    return others == null ? heardAtNs : others.heardAtNs();
  }

  /** Another timeout has passed. Returns whether it is a silence from now on. */
  boolean judge(RetryTimer retries, long nowNs) {
    boolean before = sinceNs != Pause.NEVER_NS;
    long since = Pause.NEVER_NS;
    if (retries.isHeld(nowNs)) {
      long news = retries.newsAtNs();
      long heard = peerHeardAtNs();
      since = heard - news > 0 ? heard : news;
    }
    sinceNs = since;
    return !before && since != Pause.NEVER_NS;
  }

  /** There was news, or nothing is awaited any more. */
  void end() {
    sinceNs = Pause.NEVER_NS;
  }

  /** For how long it has been silent; 0 where it isn't. Any thread. */
  long lengthNs(long nowNs) {
    long since = sinceNs;
    return since == Pause.NEVER_NS ? 0 : Math.max(1, nowNs - since);
  }
}
