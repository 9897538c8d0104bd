package io.heddle.softdevice;

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
 * How the packets of all queue pairs leave: large trains at once, small ones of one pass over the
 * queue pairs together ({@link Bundle}). One per device; under the progress lock.
 *
 * <p>What a post alone has put there, if nobody can be waiting for it, may wait a little longer,
 * for the next post or the caller's next question for completions. So a receiver's word that it is
 * ready leaves together with the message that its process sends next.
 */
final class Departures {
  /** A caller asks for completions long before. */
  private static final long HELD_NS = 50_000;

  private final TrainSender sender;
  private final @Nullable PagePipe pages;
  private final Counters counters;
  private final NanoClock clock;
  private final Bundle bundle;
  private final DelayBackoff backoff = new DelayBackoff();
  private int sends;
  private long dueNs = Pause.NEVER_NS;

  Departures(
      Arena arena,
      Log log,
      NanoClock clock,
      PacketGate gate,
      @Nullable PagePipe pages,
      Counters counters,
      SystemCallFailures broken) {
    this.pages = pages;
    this.counters = counters;
    this.clock = clock;
    sender = new TrainSender(arena, log, gate, pages, counters.trains(), broken);
    bundle = new Bundle(arena);
  }

  /**
   * @throws HeddleException where a filter refuses to send
   */
  void tryCalls(int fd) {
    sender.tryCalls(fd);
  }

  /** Whether {@link #sendRetained} may lend. */
  boolean lendsPages() {
    return pages != null;
  }

  /** By which link a bundle that was gathered leaves; null where there is none. */
  @Nullable PeerLink way() {
    return bundle.way();
  }

  /** Trains since the device was opened. */
  int sends() {
    return sends;
  }

  /** When something that waits is to leave, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  /**
   * Sends a train. False when the socket is full.
   *
   * @param mayBundle whether it may leave with others if it is small
   */
  boolean send(
      PeerLink link,
      UdpSocket socket,
      long address,
      int lengthBytes,
      int segmentBytes,
      boolean mayBundle) {
    sends++;
    if (mayBundle && gather(link, address, lengthBytes, segmentBytes)) {
      return true;
    }
    flushGathered();
    return sender.send(socket, address, lengthBytes, segmentBytes);
  }

  /**
   * Sends a train that stays as it is until it is acknowledged.
   *
   * @param mayBundle whether it may leave with others if it is small
   */
  PacketOutlet.Outcome sendRetained(
      PeerLink link,
      UdpSocket socket,
      long address,
      int lengthBytes,
      int segmentBytes,
      boolean mayBundle) {
    sends++;
    if (mayBundle && gather(link, address, lengthBytes, segmentBytes)) {
      return bundle.way() == link ? PacketOutlet.Outcome.SENT : PacketOutlet.Outcome.AS_GUEST;
    }
    flushGathered();
    return sender.sendRetained(socket, address, lengthBytes, segmentBytes);
  }

  private boolean gather(PeerLink link, long address, int lengthBytes, int segmentBytes) {
    if (!link.isSoft()) {
      return false;
    }
    int packets = lengthBytes <= segmentBytes ? 1 : (lengthBytes - 1) / segmentBytes + 1;
    if (bundle.takes(link, address, packets, lengthBytes, segmentBytes)) {
      if (!bundle.isEmpty()) {
        backoff.waitSucceeded();
      }
    } else {
      flushGathered();
      /* Where the ones before find their socket full, they stay. */
      if (!bundle.takes(link, address, packets, lengthBytes, segmentBytes)) {
        return false;
      }
    }
    bundle.add(link, address, lengthBytes, segmentBytes);
    return true;
  }

  /* What was gathered leaves, since what comes now is no company for it; if it has waited for some, it did so in vain. */
  private void flushGathered() {
    if (dueNs != Pause.NEVER_NS) {
      backoff.waitFailed();
    }
    leave();
  }

  /** What was gathered leaves; where the socket is full, it stays, and others pass it. */
  void leave() {
    if (bundle.isEmpty()) {
      return;
    }
    PeerLink way = bundle.way();
    UdpSocket open = way == null ? null : way.socket();
    int bytes = bundle.lengthBytes();
    if (open != null && !sender.send(open, bundle.address(), bytes, bytes)) {
      dueNs = clock.nanoTime() + Pause.FULL_SOCKET_NS;
      return;
    }
    counters.bundled(bundle.bundledPackets());
    forget();
  }

  /** What was gathered before is lost: the queue pairs whose it is ask again. */
  private void forget() {
    bundle.clear();
    dueNs = Pause.NEVER_NS;
  }

  /** What was gathered leaves, or is lost: one of the links goes away. */
  void clear() {
    leave();
    forget();
  }

  /**
   * What posts have left waiting leaves.
   *
   * @param callersIdle whether nobody came back for it, so that it has waited in vain
   */
  void endHold(boolean callersIdle) {
    if (bundle.isEmpty()) {
      return;
    }
    if (callersIdle) {
      backoff.waitFailed();
    }
    leave();
  }

  /**
   * The pass that a post caused is over: what somebody may wait for leaves, and the rest with it.
   *
   * @param mayHold whether there is anybody who could give it company, and callers that look again
   */
  void endPost(boolean mayHold, long nowNs) {
    if (bundle.isEmpty()) {
      return;
    }
    if (bundle.isUrgent() || !mayHold || backoff.skipsNext()) {
      leave();
    } else if (dueNs == Pause.NEVER_NS) {
      dueNs = nowNs + HELD_NS;
    }
  }
}
