package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.SendQueue;

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

  PendingRead(MemoryRights rights, SendQueue queue) {
    this.rights = rights;
    this.queue = queue;
  }

  /**
   * A request for {@code [offset, endOffset)} of work request {@code index} goes out, with the
   * numbers {@code [first, end)} for its responses.
   */
  void begin(long first, long end, long workRequest, int from, int to) {
    active = true;
    psn = first;
    endPsn = end;
    index = workRequest;
    offset = from;
    endOffset = to;
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

  /** A cumulative acknowledgement reaches no further than to the first response that is missing. */
  long bound(long upTo) {
    return active ? Math.min(upTo, psn) : upTo;
  }

  boolean expects(long number, int payloadBytes, int mtu) {
    return active && number == psn && payloadBytes == Math.min(mtu, endOffset - offset);
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

  /** Writes a request for what is missing over the first one. */
  void rewrite(TrainBuilder builder, long packet) {
    builder.writeRead(
        packet, psn, queue.remoteAddress(index) + offset, queue.rkey(index), endOffset - offset);
  }
}
