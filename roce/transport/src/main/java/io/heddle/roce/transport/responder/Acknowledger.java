package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.wire.PacketFormat;

/**
 * Acknowledgement policy of a responder, and writer of acknowledgements. A requested
 * acknowledgement is sent at once. To a soft peer it may be sent after an {@link AcknowledgeDelay},
 * with another packet. Without a request, an acknowledgement is sent after 64 packets or 100 µs.
 * Used under the progress lock.
 */
final class Acknowledger {
  private static final int MOST_PACKETS = 64;
  private static final long DELAY_NS = 100_000;

  private final QueuePairEvents events;
  private final Counters counters;
  private final PacketOutlet outlet;
  private final PacketMemory memory;
  private final EarlyPackets early;
  private final AcknowledgeDelay delay = new AcknowledgeDelay();
  private int remoteNumber;
  private boolean softPeer;
  /* Number of packets since the last acknowledgement. */
  private int owedPackets;
  private boolean isImmediate;
  /* Set while a requested acknowledgement waits for a packet to carry it. */
  private boolean isDelayed;
  private long dueNs = Pause.NEVER_NS;

  /* Tag that the next acknowledgement returns. */
  private int tag;
  private boolean hasProbeTag;
  /* Arrival time of the packet with the tag that the next acknowledgement returns. */
  private long taggedAtNs;
  /* Longest time that the tagged packet may have waited in the socket before its arrival time. */
  private long waitedNs;
  private long nowNs;

  Acknowledger(
      QueuePairEvents events,
      Counters counters,
      PacketOutlet outlet,
      PacketMemory memory,
      EarlyPackets early) {
    this.events = events;
    this.counters = counters;
    this.outlet = outlet;
    this.memory = memory;
    this.early = early;
  }

  void reset(boolean peerIsSoft, int numberOfPeer) {
    remoteNumber = numberOfPeer;
    softPeer = peerIsSoft;
    tag = PacketFormat.NO_TAG;
    hasProbeTag = false;
    delay.reset();
    sent();
  }

  /**
   * Returns the time at which an acknowledgement is sent even if no further packet arrives, or
   * {@link Pause#NEVER_NS}.
   */
  long dueNs() {
    return dueNs;
  }

  void onTimer(long timeNs) {
    if (dueNs != Pause.NEVER_NS && timeNs - dueNs >= 0) {
      endWait();
      dueNs = Pause.NEVER_NS;
      acknowledgeNow();
    }
  }

  /** Ends the acknowledgement's wait: no packet came in time to carry it. */
  void endWait() {
    if (!isDelayed) {
      return;
    }
    if (events.areCallersIdle()) {
      delay.waitFailed();
    } else {
      delay.waitExpired();
    }
    isDelayed = false;
    acknowledgeNow();
  }

  boolean isWaiting() {
    return isDelayed;
  }

  /** Ends the acknowledgement's wait: another queue pair's packet to the peer can carry it. */
  void endWaitWithPacket() {
    delay.onCarried();
    counters.acknowledgementCarried();
    isDelayed = false;
    isImmediate = true;
  }

  /**
   * Records the arrival of packets, valid or not.
   *
   * @param newTag newest tag among the packets, or {@link PacketFormat#NO_TAG}
   */
  void onPackets(int newTag, long timeNs) {
    nowNs = timeNs;
    if (newTag != PacketFormat.NO_TAG && !hasProbeTag) {
      takeTag(newTag);
    }
  }

  private void takeTag(int newTag) {
    tag = newTag;
    taggedAtNs = nowNs;
    waitedNs = events.longestSocketWaitNs();
  }

  /** Returns whether a probe isn't answered yet. */
  boolean owesProbeAnswer() {
    return hasProbeTag;
  }

  /** Records a probe with this tag, which must be answered even if later packets arrive first. */
  void probed(int probeTag) {
    takeTag(probeTag);
    hasProbeTag = true;
    acknowledgeNow();
  }

  /** Records packets executed in order. At most the last of them requested an acknowledgement. */
  void onExecuted(int packets, boolean asked, boolean gapBehind) {
    owedPackets += packets;
    if (owedPackets >= MOST_PACKETS || asked && !mayWait(gapBehind)) {
      acknowledgeNow();
    } else if (dueNs == Pause.NEVER_NS) {
      dueNs = nowNs + DELAY_NS;
      events.timerAt(dueNs);
    }
  }

  /** Records the execution of a packet that arrived early. */
  void onEarlyExecuted() {
    owedPackets++;
  }

  private boolean mayWait(boolean gapBehind) {
    if (isDelayed) {
      return true;
    }
    if (!softPeer || gapBehind || events.areCallersIdle()) {
      return false;
    }
    int rounds = delay.rounds();
    if (rounds == 0) {
      return false;
    }
    isDelayed = true;
    events.waitRounds(rounds);
    return true;
  }

  void acknowledgeNow() {
    isImmediate = true;
    events.activate();
  }

  boolean isDueNow() {
    return isImmediate;
  }

  private boolean owesAcknowledgement() {
    return owedPackets > 0 || isImmediate;
  }

  /** Clears the owed acknowledgement: READ responses acknowledge the same packets. */
  void onReadResponse() {
    owedPackets = 0;
  }

  /** Records that the acknowledgement was sent. */
  void sent() {
    isImmediate = false;
    isDelayed = false;
    dueNs = Pause.NEVER_NS;
    owedPackets = 0;
  }

  /** Records that another packet carried the acknowledgement. */
  void onCarried() {
    if (isDelayed) {
      delay.onCarried();
    }
    counters.acknowledgementCarried();
    sent();
  }

  /**
   * Sends an acknowledgement, to a soft peer with the bitmap of early packets.
   *
   * @param expected sequence number of the expected packet
   * @return false when the socket is full
   */
  boolean send(int syndrome, long psn, int messages, long expected, int link, long timeNs) {
    long packet = memory.controlPacket();
    outlet.selectFlow(link);
    write(packet, syndrome, psn, messages, timeNs);
    int bytes = lengthBytes();
    if (softPeer && early.isAnyAfter(expected)) {
      bytes += early.writeBitmap(packet + bytes, expected);
    }
    memory.icrcWriter().write(packet, bytes);
    int total = bytes + PacketFormat.ICRC_BYTES;
    if (!outlet.sendResponse(link, packet, total, total)) {
      return false;
    }
    sent();
    return true;
  }

  /**
   * Appends an acknowledgement to a packet about to be sent, if one is owed and fits.
   *
   * @param most largest length, ICRC included
   * @return number of bytes written; call {@link #onCarried} once they are sent
   */
  int append(long packet, int most, long psn, int messages, long timeNs) {
    int bytes = lengthBytes();
    if (!owesAcknowledgement() || bytes + PacketFormat.ICRC_BYTES > most) {
      return 0;
    }
    write(packet, PacketFormat.SYNDROME_ACK, psn, messages, timeNs);
    memory.icrcWriter().write(packet, bytes);
    return bytes + PacketFormat.ICRC_BYTES;
  }

  /* Returns the length of an acknowledgement without bitmap and ICRC, in bytes. */
  private int lengthBytes() {
    return PacketFormat.BTH_BYTES
        + PacketFormat.AETH_BYTES
        + (softPeer ? PacketFormat.WAITED_BYTES : 0);
  }

  /*
   * Writes an acknowledgement of lengthBytes() bytes. The tag is returned in this acknowledgement
   * only.
   */
  private void write(long packet, int syndrome, long psn, int messages, long timeNs) {
    PacketFormat.writeBase(packet, PacketFormat.ACKNOWLEDGE, 0, remoteNumber, psn);
    long at = packet + PacketFormat.BTH_BYTES;
    PacketFormat.writeAeth(at, syndrome, messages);
    if (softPeer) {
      long heldNs = tag == PacketFormat.NO_TAG ? 0 : waitedNs + timeNs - taggedAtNs;
      Memory.ALL.set(
          Memory.NETWORK_INT,
          at + PacketFormat.AETH_BYTES,
          (int) Math.min(heldNs / 1000, 0xffff_ffffL));
      PacketFormat.setRequestAndTag(packet, false, tag);
      tag = PacketFormat.NO_TAG;
      hasProbeTag = false;
    }
  }

  /** Returns the time of the newest packet. */
  long nowNs() {
    return nowNs;
  }
}
