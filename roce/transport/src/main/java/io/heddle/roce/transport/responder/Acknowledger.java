package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.wire.PacketFormat;

/**
 * When a responder acknowledges, and what it tells besides. Asked for, it does so at once, or to a
 * soft peer soon, with a packet that leaves in any case ({@link AcknowledgeDelay}); not asked for,
 * after 64 packets or 100 µs. Under the progress lock.
 */
final class Acknowledger {
  private static final int MOST_PACKETS = 64;
  private static final long DELAY_NS = 100_000;

  private final QueuePairEvents events;
  private final Counters counters;
  private final AcknowledgeDelay delay = new AcknowledgeDelay();
  private int remoteNumber;
  private boolean softPeer;
  /* Packets since the last acknowledgement. */
  private int owed;
  private boolean now;
  /* One was asked for, and waits for a packet that carries it. */
  private boolean soon;
  private long dueNs = Pause.NEVER_NS;

  /* The tag to return, when it came, and how long its packet may have waited for that. */
  private int tag;
  private boolean keepsTag;
  private long taggedAtNs;
  private long waitedNs;
  private long nowNs;

  Acknowledger(QueuePairEvents events, Counters counters) {
    this.events = events;
    this.counters = counters;
  }

  void reset(boolean peerIsSoft, int numberOfPeer) {
    remoteNumber = numberOfPeer;
    softPeer = peerIsSoft;
    tag = PacketFormat.NO_TAG;
    keepsTag = false;
    delay.reset();
    sent();
  }

  /** When one is due though nothing more comes, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  void onTimer(long timeNs) {
    if (dueNs != Pause.NEVER_NS && timeNs - dueNs >= 0) {
      endWait();
      dueNs = Pause.NEVER_NS;
      askNow();
    }
  }

  /** Nothing came in time to carry one that waits. */
  void endWait() {
    if (!soon) {
      return;
    }
    if (events.callersAreIdle()) {
      delay.waitFailed();
    } else {
      delay.waitExpired();
    }
    soon = false;
    askNow();
  }

  boolean isWaiting() {
    return soon;
  }

  /** Something else leaves for the peer, with which the one that waits can leave. */
  void endWaitWithPacket() {
    delay.carried();
    counters.acknowledgementCarried();
    soon = false;
    now = true;
  }

  /**
   * One or more packets came, whatever becomes of them.
   *
   * @param newTag the newest tag among them, or {@link PacketFormat#NO_TAG}
   */
  void packetsCame(int newTag, long timeNs) {
    nowNs = timeNs;
    if (newTag != PacketFormat.NO_TAG && !keepsTag) {
      takeTag(newTag);
    }
  }

  private void takeTag(int newTag) {
    tag = newTag;
    taggedAtNs = nowNs;
    waitedNs = events.waitedNs();
  }

  /** Whether a question came, and its answer hasn't left. */
  boolean owesAnswer() {
    return keepsTag;
  }

  /** A question came, with this tag: it is to be answered though others come behind it. */
  void asked(int questionsTag) {
    takeTag(questionsTag);
    keepsTag = true;
    askNow();
  }

  /**
   * They were executed in their turn, and nothing before them is missing; at most the last one
   * asked for an acknowledgement.
   */
  void executed(int packets, boolean asked, boolean gapBehind) {
    owed += packets;
    if (owed >= MOST_PACKETS || asked && !mayWait(gapBehind)) {
      askNow();
    } else if (dueNs == Pause.NEVER_NS) {
      dueNs = nowNs + DELAY_NS;
      events.timerAt(dueNs);
    }
  }

  /** One more that had come before its turn. */
  void executedToo() {
    owed++;
  }

  private boolean mayWait(boolean gapBehind) {
    if (soon) {
      return true;
    }
    if (!softPeer || gapBehind || events.callersAreIdle()) {
      return false;
    }
    int rounds = delay.rounds();
    if (rounds == 0) {
      return false;
    }
    soon = true;
    events.waitRounds(rounds);
    return true;
  }

  void askNow() {
    now = true;
    events.activate();
  }

  boolean isDueNow() {
    return now;
  }

  boolean owes() {
    return owed > 0 || now;
  }

  /** Responses of a READ say the same. */
  void answeredOtherwise() {
    owed = 0;
  }

  /** It has left. */
  void sent() {
    now = false;
    soon = false;
    dueNs = Pause.NEVER_NS;
    owed = 0;
  }

  /** It has left behind another packet. */
  void carried() {
    if (soon) {
      delay.carried();
    }
    counters.acknowledgementCarried();
    sent();
  }

  /** Bytes of one without bitmap and ICRC. */
  int lengthBytes() {
    return PacketFormat.BTH_BYTES
        + PacketFormat.AETH_BYTES
        + (softPeer ? PacketFormat.WAITED_BYTES : 0);
  }

  /** Writes one, {@link #lengthBytes} long; the tag is told once. */
  void write(long packet, int syndrome, long psn, int messages, long timeNs) {
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
      keepsTag = false;
    }
  }

  /** Time of the newest packet. */
  long nowNs() {
    return nowNs;
  }
}
