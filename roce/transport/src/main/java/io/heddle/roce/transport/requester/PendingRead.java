package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.wire.PacketFormat;

/**
 * The READ whose responses a requester awaits, one at a time: which packet comes next and where its
 * payload belongs. Under the progress lock.
 */
final class PendingRead {
  private final MemoryRights rights;
  private final SendQueue queue;
  private boolean active;
  private boolean lost;
  private long psn;
  private long endPsn;
  private long index;
  private int offset;
  private int endOffset;
  private long acknowledged;
  private long askedPsn;
  private long askedAtNs;
  private boolean askedOnce;

  PendingRead(MemoryRights rights, SendQueue queue) {
    this.rights = rights;
    this.queue = queue;
  }

  /**
   * A request for {@code [offset, endOffset)} of work request {@code index} goes out, with the
   * numbers {@code [first, end)} for its responses.
   */
  void begin(long first, long end, long workRequest, int from, int to, long nowNs) {
    active = true;
    psn = first;
    endPsn = end;
    index = workRequest;
    offset = from;
    endOffset = to;
    acknowledged = end;
    askedPsn = first;
    askedAtNs = nowNs;
    askedOnce = true;
  }

  void stop() {
    active = false;
    lost = false;
  }

  boolean isActive() {
    return active;
  }

  /** Whether it has to be asked for again. */
  boolean isLost() {
    return lost;
  }

  void lose() {
    lost = true;
  }

  void loseIf(boolean requestIsLost) {
    lost |= active && requestIsLost;
  }

  void loseIfEndsBehind(long number) {
    lost |= active && endPsn > number;
  }

  void askedAgain() {
    lost = false;
  }

  /** Number of the next response. */
  long psn() {
    return psn;
  }

  /** Responses that have not come. */
  int awaited() {
    return active ? (int) (endPsn - psn) : 0;
  }

  /**
   * A cumulative acknowledgement reaches no further than to the first response that is missing.
   * What it says of the numbers behind the last response holds once that has come.
   */
  long bound(long upTo) {
    if (!active) {
      return upTo;
    }
    acknowledged = Math.max(acknowledged, upTo);
    return Math.min(upTo, psn);
  }

  /** First number behind the responses. */
  long endPsn() {
    return endPsn;
  }

  /** How far responses and cumulative acknowledgements reach together. */
  long reached() {
    return active ? psn : acknowledged;
  }

  boolean expects(long number, int payloadBytes, int mtu) {
    return active && number == psn && payloadBytes == Math.min(mtu, endOffset - offset);
  }

  /**
   * Whether this response, which isn't the next one, shows that the next one was lost: on one way
   * they come in order. Those behind a lost one are under way when it is asked for again, and show
   * nothing new, so that is believed once in about a round trip.
   */
  boolean showsLoss(long number, long roundTripNs, long nowNs) {
    return active
        && number > psn
        && number < endPsn
        && roundTripNs > 0
        && nowNs - askedAtNs >= roundTripNs / 4 * 3;
  }

  /** Places the next response; false where the local memory isn't allowed any more. */
  boolean take(long payload, int payloadBytes) {
    long to = queue.localAddress(index) + offset;
    if (!rights.localWrite(queue.lkey(index), to, payloadBytes)) {
      return false;
    }
    if (payloadBytes > 0) {
      Memory.copy(payload, to, payloadBytes);
    }
    offset += payloadBytes;
    psn++;
    active = psn != endPsn;
    return true;
  }

  /**
   * Measures how long the answer to a request took, where this response must be its first. No
   * response in the middle of one looks like the first of the next.
   */
  void measure(RoundTrip roundTrip, int opcode, long number, long nowNs) {
    boolean first =
        opcode == PacketFormat.READ_RESPONSE_FIRST || opcode == PacketFormat.READ_RESPONSE_ONLY;
    if (first && askedOnce && number == askedPsn) {
      roundTrip.sample(Math.max(1, nowNs - askedAtNs));
    }
  }

  /** Writes a request for what is missing over the first one. */
  void rewrite(TrainBuilder builder, long packet, long nowNs) {
    askedOnce = psn != askedPsn;
    askedPsn = psn;
    askedAtNs = nowNs;
    builder.writeRead(
        packet, psn, queue.remoteAddress(index) + offset, queue.rkey(index), endOffset - offset);
  }
}
