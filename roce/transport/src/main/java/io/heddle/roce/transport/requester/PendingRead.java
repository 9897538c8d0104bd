package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.wire.PacketFormat;

/**
 * READ whose responses a requester awaits: the next expected packet, and the position of its
 * payload. There is one such READ at a time. Used under the progress lock.
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
  private long requestPsn;
  private long requestedAtNs;
  private boolean isRequestedOnce;

  PendingRead(MemoryRights rights, SendQueue queue) {
    this.rights = rights;
    this.queue = queue;
  }

  /**
   * Records a request for the bytes {@code [from, to)} of a work request, with the sequence numbers
   * {@code [first, end)} for its responses.
   */
  void begin(long first, long end, long workRequest, int from, int to, long nowNs) {
    active = true;
    psn = first;
    endPsn = end;
    index = workRequest;
    offset = from;
    endOffset = to;
    acknowledged = end;
    requestPsn = first;
    requestedAtNs = nowNs;
    isRequestedOnce = true;
  }

  void stop() {
    active = false;
    lost = false;
  }

  boolean isActive() {
    return active;
  }

  /** Returns whether the READ must be requested again. */
  boolean isLost() {
    return lost;
  }

  void markLost() {
    lost = true;
  }

  void markLostIf(boolean requestIsLost) {
    lost |= active && requestIsLost;
  }

  void markLostIfEndsBehind(long number) {
    lost |= active && endPsn > number;
  }

  void onRequestRepeated() {
    lost = false;
  }

  /** Returns the sequence number of the next response. */
  long psn() {
    return psn;
  }

  /** Returns the number of missing responses. */
  int missingResponses() {
    return active ? (int) (endPsn - psn) : 0;
  }

  /**
   * Limits a cumulative acknowledgement to the first missing response. The part of the
   * acknowledgement beyond the responses takes effect once the last response has arrived.
   */
  long limitAcknowledgement(long upTo) {
    if (!active) {
      return upTo;
    }
    acknowledged = Math.max(acknowledged, upTo);
    return Math.min(upTo, psn);
  }

  /** Returns the first sequence number after the responses. */
  long endPsn() {
    return endPsn;
  }

  /**
   * Returns the first sequence number that isn't acknowledged. While responses are missing, it is
   * that of the first missing response, even if a cumulative acknowledgement covers more.
   */
  long coveredEnd() {
    return active ? psn : acknowledged;
  }

  boolean expects(long number, int payloadBytes, int mtu) {
    return active && number == psn && payloadBytes == Math.min(mtu, endOffset - offset);
  }

  /**
   * Returns whether this out-of-order response shows a loss of the expected one; responses on one
   * path keep their order. Responses that were in flight when the request was repeated prove
   * nothing new, so a loss is reported only once per round trip.
   */
  boolean showsLoss(long number, long roundTripNs, long nowNs) {
    return active
        && number > psn
        && number < endPsn
        && roundTripNs > 0
        && nowNs - requestedAtNs >= roundTripNs / 4 * 3;
  }

  /**
   * Places the next response. Returns false if access to the local memory isn't permitted any more.
   */
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
   * Measures the round trip of a request if this is its first response. The opcode distinguishes
   * the first response from later ones.
   */
  void measure(RoundTrip roundTrip, int opcode, long number, long nowNs) {
    boolean first =
        opcode == PacketFormat.READ_RESPONSE_FIRST || opcode == PacketFormat.READ_RESPONSE_ONLY;
    if (first && isRequestedOnce && number == requestPsn) {
      roundTrip.sample(Math.max(1, nowNs - requestedAtNs));
    }
  }

  /** Rewrites the request for the missing responses. */
  void rewrite(TrainBuilder builder, long packet, long nowNs) {
    isRequestedOnce = psn != requestPsn;
    requestPsn = psn;
    requestedAtNs = nowNs;
    builder.writeRead(
        packet, psn, queue.remoteAddress(index) + offset, queue.rkey(index), endOffset - offset);
  }
}
