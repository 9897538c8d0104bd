package io.heddle.roce.transport.connection;

import io.heddle.roce.transport.Completer;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.LinkSet;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.requester.PeerGroup;
import io.heddle.roce.transport.requester.Requester;
import io.heddle.roce.transport.responder.Responder;
import io.heddle.roce.transport.responder.WriteBatchReceiver;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.roce.wire.PsnBits;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transport of a queue pair: its requester and its responder. It has no socket, thread or clock;
 * its owner passes it packets and times, and calls it to transmit. Used under the progress lock.
 */
public final class ReliableConnection {
  /** Length of the connection's tables, in bytes. */
  public static final int TABLES_BYTES = Responder.TABLES_BYTES;

  private final QueuePairEvents events;
  private final DropCounters drops;
  private final Completer completer;
  private final Requester requester;
  private final Responder responder;
  private PacketSizes sizes = PacketSizes.standard(PathMtu.MTU_1024);
  private boolean softPeer;
  private int remoteNumber;
  /* Pause that begins when the socket is too full for a response or an acknowledgement. */
  private final Pause blocked = new Pause();

  /**
   * @param number number of the queue pair
   * @param memory memory for building packets
   * @param tables address of {@link #TABLES_BYTES} bytes of zeroed memory; only touched pages take
   *     memory
   */
  public ReliableConnection(
      int number,
      QueuePairEvents events,
      PacketOutlet outlet,
      PacketMemory memory,
      SendQueue sends,
      ReceiveQueue receives,
      MemoryRights rights,
      Counters counters,
      long tables) {
    this.events = events;
    drops = counters.drops();
    completer = new Completer(events, sends, receives);
    responder = new Responder(number, events, outlet, memory, receives, rights, counters, tables);
    requester =
        new Requester(events, outlet, memory, sends, completer, rights, responder, counters);
  }

  /**
   * Starts to accept requests.
   *
   * @param agreed packet sizes agreed with the peer
   * @param peerIsSoft whether the peer is a soft device with which its protocol extensions are used
   * @param links number of links
   */
  public void startReceiving(
      ReadyToReceiveAttributes attributes, PacketSizes agreed, boolean peerIsSoft, int links) {
    sizes = agreed;
    softPeer = peerIsSoft;
    remoteNumber = attributes.remoteQueuePairNumber() & PacketFormat.PSN_MASK;
    responder.start(
        attributes.receivePsn(),
        remoteNumber,
        sizes,
        softPeer,
        links,
        attributes.receiverNotReadyTimerCode());
  }

  /**
   * Starts to send requests.
   *
   * @param peerGroup queue pairs to the same peer, or null for none
   */
  public void startSending(
      ReadyToSendAttributes attributes, LinkSet links, @Nullable PeerGroup peerGroup, long nowNs) {
    requester.start(attributes, remoteNumber, sizes, softPeer, links, peerGroup, nowNs);
  }

  /** Refuses new requests from now on; duplicates are still acknowledged. */
  public void refuseRequests() {
    responder.refuseRequests();
  }

  /** Stops sending requests and executing the peer's requests, and stops all timers. */
  public void stop() {
    requester.stop();
    responder.stop();
  }

  /** Completes all posted requests as flushed. */
  public void flush() {
    completer.flush();
  }

  /** Processes a packet that arrived on this link and has a valid checksum. */
  public void onPacket(
      int opcode, long packet, long payload, int payloadBytes, int link, long nowNs) {
    responder.setAnswerLink(link);
    QueuePairState state = events.state();
    if (state == QueuePairState.ERROR) {
      drops.count(DropCounters.Reason.IN_FLIGHT_AFTER_ERROR);
      if (opcode <= PacketFormat.READ_REQUEST) {
        responder.repeatRefusal();
      }
      return;
    }
    requester.onPeerPacket(nowNs);
    if (opcode <= PacketFormat.READ_REQUEST) {
      int thirdWord = PacketFormat.networkInt(packet + 8);
      responder.onRequest(opcode, thirdWord, packet, payload, payloadBytes, nowNs);
    } else if (state != QueuePairState.READY_TO_SEND) {
      drops.count(DropCounters.Reason.WRONG_STATE);
    } else if (opcode == PacketFormat.ACKNOWLEDGE) {
      onAcknowledge(packet, payload, payloadBytes, nowNs);
      events.activate();
    } else {
      requester.onReadResponse(opcode, PacketFormat.psn(packet), payload, payloadBytes, nowNs);
    }
  }

  /**
   * Processes WRITE packets that lie in memory one after another, with one call of {@link
   * WriteBatchReceiver}.
   *
   * @param flow receive flow of this link
   * @return number of packets processed; 0 if the first packet isn't eligible
   */
  public int onBatch(
      WriteBatchReceiver batches,
      long packet,
      int stride,
      int most,
      int link,
      FlowChecksum flow,
      long nowNs) {
    QueuePairState state = events.state();
    if (!softPeer
        || state != QueuePairState.READY_TO_SEND && state != QueuePairState.READY_TO_RECEIVE) {
      return 0;
    }
    int taken = responder.onBatch(batches, packet, stride, most, flow, nowNs);
    if (taken > 0) {
      requester.onPeerPacket(nowNs);
      responder.setAnswerLink(link);
    }
    return taken;
  }

  private void onAcknowledge(long packet, long payload, int payloadBytes, long nowNs) {
    int syndrome = PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES) >>> 24;
    long bitmap = payload + PacketFormat.WAITED_BYTES;
    int bitmapBytes = payloadBytes - PacketFormat.WAITED_BYTES;
    if (softPeer && bitmapBytes >= 0) {
      long waitedUs = PacketFormat.networkInt(payload) & 0xffff_ffffL;
      requester.onTag(
          PacketFormat.tag(packet), waitedUs * 1000 + events.longestSocketWaitNs(), nowNs);
    }
    int words = softPeer ? Math.clamp(bitmapBytes / 8, 0, PsnBits.SIZE / 64 + 1) : 0;
    requester.onAcknowledge(PacketFormat.psn(packet), syndrome, bitmap, words, nowNs);
  }

  /** Sends due packets. Returns whether further packets are due and could be sent at once. */
  public boolean transmit(long nowNs, int trains) {
    QueuePairState state = events.state();
    if (state == QueuePairState.ERROR) {
      completer.flush();
      return false;
    }
    if (state == QueuePairState.RESET || state == QueuePairState.INIT) {
      return false;
    }
    boolean sends = state == QueuePairState.READY_TO_SEND;
    boolean carries = sends && requester.canNextCarryAcknowledgement();
    if (!carries && !responder.flush(nowNs)) {
      return beginBlock(nowNs);
    }
    for (int i = 0; i < trains && responder.hasResponses(); i++) {
      if (!responder.sendResponses()) {
        return beginBlock(nowNs);
      }
    }
    boolean more = responder.hasResponses();
    more |= sends && requester.transmit(nowNs, trains);
    if (carries && !events.isInError() && !responder.flush(nowNs)) {
      return beginBlock(nowNs);
    }
    return more;
  }

  private boolean beginBlock(long nowNs) {
    blocked.begin(nowNs + Pause.FULL_SOCKET_NS);
    events.timerAt(blocked.dueNs());
    return false;
  }

  /** Handles the timers that are due. */
  public void onTimer(long nowNs) {
    if (blocked.endIfDue(nowNs)) {
      events.activate();
    }
    if (events.state() == QueuePairState.READY_TO_SEND) {
      requester.onTimer(nowNs);
    }
    responder.onTimer(nowNs);
  }

  /** Returns the next time for {@link #onTimer}, or {@link Pause#NEVER_NS}. */
  public long dueNs() {
    return Math.min(blocked.dueNs(), Math.min(requester.dueNs(), responder.dueNs()));
  }

  /**
   * Ends an acknowledgement's wait for a packet to carry it, because its polling rounds are over.
   */
  public void endAcknowledgementWait() {
    responder.endWait();
  }

  /** Returns whether an acknowledgement waits for a packet to carry it. */
  public boolean hasAnswerWaiting() {
    return responder.isAnswerWaiting();
  }

  /** Returns the link of the waiting acknowledgement. */
  public int answerLink() {
    return responder.answerLink();
  }

  /** Sends the waiting acknowledgement along with another queue pair's packet. */
  public void acknowledgeWithPacket(long nowNs) {
    responder.endWaitWithPacket();
    if (!responder.flush(nowNs)) {
      beginBlock(nowNs);
    }
  }

  /** Sets the weights of the links, in order of their numbers. */
  public void setLinkWeights(int[] weights) {
    requester.setLinkWeights(weights);
  }

  /** Takes a link out of use, because the host reports it down. */
  public void linkLost(int link, long nowNs) {
    requester.linkLost(link, nowNs);
  }

  /** Returns the counters of each link; empty if there is only one link. */
  public List<LinkCounts> linkCounts() {
    return requester.linkCounts(responder.arrivals());
  }

  /** Returns the number of retransmitted packets. Any thread may call this. */
  public long resentPackets() {
    return requester.resentPackets();
  }

  /**
   * Returns how long the peer has been silent on all paths; 0 if retries go on as usual. Any thread
   * may call this.
   */
  public long peerSilentNs(long nowNs) {
    return requester.peerSilentNs(nowNs);
  }
}
