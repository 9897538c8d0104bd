package io.heddle.softdevice.io;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DelayBackoff;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Send stage of all queue pairs. Large trains are sent at once; small trains of one pass over the
 * queue pairs are sent together ({@link Bundle}). Each device has one send stage, used under the
 * progress lock.
 *
 * <p>A single post's bundle may be held until the next post or the caller's next poll, unless a
 * receiver may wait for it. So a clear-to-send entry can be sent together with the next message of
 * the same process.
 */
public final class SendStage {
  /** Longest hold of a bundle. A polling caller polls again much sooner. */
  private static final long HELD_NS = 50_000;

  private final TrainSender sender;
  private final @Nullable PagePipe pages;
  private final Counters counters;
  private final NanoClock clock;
  private final Bundle bundle;
  private final DelayBackoff backoff = new DelayBackoff();
  private int sends;
  private long dueNs = Pause.NEVER_NS;

  public SendStage(
      Arena arena,
      Log log,
      NanoClock clock,
      PacketGate gate,
      @Nullable PagePipe pages,
      Counters counters,
      SystemCallFailures callFailures) {
    this.pages = pages;
    this.counters = counters;
    this.clock = clock;
    sender = new TrainSender(arena, log, gate, pages, counters.trains(), callFailures);
    bundle = new Bundle(arena);
  }

  /**
   * Tries the send calls on a socket without a peer.
   *
   * @throws HeddleException if a seccomp filter refuses to send
   */
  public void trySystemCalls(int fd) {
    sender.trySystemCalls(fd);
  }

  /** Returns whether {@link #sendRetained} may send without copying. */
  public boolean supportsZeroCopy() {
    return pages != null;
  }

  /** Returns the link of the pending bundle, or null if there is none. */
  public @Nullable PeerLink pendingLink() {
    return bundle.pendingLink();
  }

  /** Returns the number of trains sent since the device was opened. */
  public int sends() {
    return sends;
  }

  /** Returns when the pending bundle must be sent, or {@link Pause#NEVER_NS}. */
  public long dueNs() {
    return dueNs;
  }

  /**
   * Sends a train. Returns false if the socket is full.
   *
   * @param mayBundle whether a small train may be bundled
   */
  boolean send(
      PeerLink link,
      UdpSocket socket,
      long address,
      int lengthBytes,
      int segmentBytes,
      boolean mayBundle) {
    sends++;
    if (mayBundle && addToBundle(link, address, lengthBytes, segmentBytes)) {
      return true;
    }
    flushGathered();
    return sender.send(socket, address, lengthBytes, segmentBytes);
  }

  /**
   * Sends a train whose memory stays unchanged until it is acknowledged.
   *
   * @param mayBundle whether a small train may be bundled
   */
  PacketOutlet.Outcome sendRetained(
      PeerLink link,
      UdpSocket socket,
      long address,
      int lengthBytes,
      int segmentBytes,
      boolean mayBundle) {
    sends++;
    if (mayBundle && addToBundle(link, address, lengthBytes, segmentBytes)) {
      return bundle.pendingLink() == link
          ? PacketOutlet.Outcome.SENT
          : PacketOutlet.Outcome.BUNDLED;
    }
    flushGathered();
    return sender.sendRetained(socket, address, lengthBytes, segmentBytes);
  }

  private boolean addToBundle(PeerLink link, long address, int lengthBytes, int segmentBytes) {
    if (!link.isSoft()) {
      return false;
    }
    int packets = lengthBytes <= segmentBytes ? 1 : (lengthBytes - 1) / segmentBytes + 1;
    if (bundle.canAdd(link, address, packets, lengthBytes, segmentBytes)) {
      if (!bundle.isEmpty()) {
        backoff.waitSucceeded();
      }
    } else {
      flushGathered();
      /* If the socket is full, the pending bundle stays. */
      if (!bundle.canAdd(link, address, packets, lengthBytes, segmentBytes)) {
        return false;
      }
    }
    bundle.add(link, address, lengthBytes, segmentBytes);
    return true;
  }

  /*
   * Sends the pending bundle, since the next train can't join it. If the bundle was held, the hold
   * counts as failed.
   */
  private void flushGathered() {
    if (dueNs != Pause.NEVER_NS) {
      backoff.waitFailed();
    }
    sendPending();
  }

  /**
   * Sends the pending bundle. If the socket is full, the bundle stays, and later trains overtake
   * it.
   */
  public void sendPending() {
    if (bundle.isEmpty()) {
      return;
    }
    PeerLink pending = bundle.pendingLink();
    UdpSocket open = pending == null ? null : pending.socket();
    int bytes = bundle.lengthBytes();
    if (open != null && !sender.send(open, bundle.address(), bytes, bytes)) {
      dueNs = clock.nanoTime() + Pause.FULL_SOCKET_NS;
      return;
    }
    counters.bundled(bundle.bundledPackets());
    clearBundle();
  }

  /** Empties the bundle. If it wasn't sent, its queue pairs retransmit the packets. */
  private void clearBundle() {
    bundle.clear();
    dueNs = Pause.NEVER_NS;
  }

  /** Sends or drops the pending bundle. Called before one of its queue pairs stops. */
  public void clear() {
    sendPending();
    clearBundle();
  }

  /**
   * Sends the bundle that posts have left pending.
   *
   * @param callersIdle whether no caller polled meanwhile; the hold then counts as failed
   */
  public void endHold(boolean callersIdle) {
    if (bundle.isEmpty()) {
      return;
    }
    if (callersIdle) {
      backoff.waitFailed();
    }
    sendPending();
  }

  /**
   * Ends the pass of a post: sends the bundle, or holds it if it isn't urgent.
   *
   * @param mayHold whether there are polling callers, and other queue pairs to share the bundle
   */
  public void endPost(boolean mayHold, long nowNs) {
    if (bundle.isEmpty()) {
      return;
    }
    if (bundle.isUrgent() || !mayHold || backoff.skipsNext()) {
      sendPending();
    } else if (dueNs == Pause.NEVER_NS) {
      dueNs = nowNs + HELD_NS;
    }
  }
}
