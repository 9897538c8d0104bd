package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;

/**
 * Sender of READ responses, a train at a time. No response is kept for retransmission: a peer that
 * misses a response repeats the request, and the memory is read again. {@value #WAITING} requests
 * can wait; a further request is dropped. That does no harm: a soft peer has only one outstanding
 * READ, and a standard peer repeats its request. Used under the progress lock.
 */
final class ReadResponses {
  private static final int WAITING = 16;

  private final PacketOutlet outlet;
  private final PacketMemory memory;
  private final MemoryRights rights;
  /* Tables allocated at the first READ request, which most queue pairs never receive. */
  private long[] psns = {};
  private long[] addresses = {};
  private int[] keys = {};
  private int[] lengths = {};
  private int[] messages = {};
  private byte[] links = {};
  private int count;
  private int offset;
  private int remoteNumber;
  private int mtu;
  /* First and end sequence number of the newest run of READs without another request between. */
  private long runStart;
  private long runEnd;

  ReadResponses(PacketOutlet outlet, PacketMemory memory, MemoryRights rights) {
    this.outlet = outlet;
    this.memory = memory;
    this.rights = rights;
  }

  /**
   * @param expected sequence number of the first request
   */
  void configure(int mtuBytes, int numberOfPeer, long expected) {
    remoteNumber = numberOfPeer;
    mtu = mtuBytes;
    runStart = expected;
    runEnd = expected;
    stop();
  }

  void stop() {
    count = 0;
    offset = 0;
  }

  /**
   * Executes a new request; see {@link #start}.
   *
   * @return 0, or the syndrome of the NAK
   */
  int execute(long packet, long psn, int messageNumber, int link) {
    long reth = packet + PacketFormat.BTH_BYTES;
    int length = PacketFormat.networkInt(reth + 12);
    if (length < 0) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (length > 0
        && !rights.remoteRead(
            PacketFormat.networkInt(reth + 8), PacketFormat.networkLong(reth), length)) {
      return PacketFormat.SYNDROME_REMOTE_ACCESS;
    }
    start(packet, psn, messageNumber, link);
    if (psn != runEnd) {
      runStart = psn;
    }
    runEnd = psn + packets(length);
    return 0;
  }

  /**
   * Returns the end of what may be acknowledged to a standard peer: a READ is acknowledged only by
   * its responses. The kernel's rxe would complete a READ when it is acknowledged, without its
   * data. A soft peer waits for the data, and expects a bitmap to begin at the number after the
   * acknowledged one.
   */
  long limitAcknowledgement(long expected) {
    return expected == runEnd ? runStart : expected;
  }

  /** Returns the sequence number after the newest run of READs. */
  long runEnd() {
    return runEnd;
  }

  /**
   * Starts to answer a request, new or repeated.
   *
   * @param link link of the request. All responses use this link, since a requester accepts
   *     responses in order only
   */
  void start(long packet, long psn, int messageNumber, int link) {
    long reth = packet + PacketFormat.BTH_BYTES;
    int length = PacketFormat.networkInt(reth + 12);
    /* A repeated request replaces the original request if that is still being answered. */
    if (count > 0
        && psn >= psns[0]
        && psn < psns[0] + packets(lengths[0])
        && psn != psns[count - 1]) {
      count = 0;
      offset = 0;
    }
    if (count == WAITING || length < 0) {
      return;
    }
    if (psns.length == 0) {
      allocateTables();
    }
    psns[count] = psn;
    addresses[count] = PacketFormat.networkLong(reth);
    keys[count] = PacketFormat.networkInt(reth + 8);
    lengths[count] = length;
    messages[count] = messageNumber;
    links[count] = (byte) link;
    count++;
  }

  private void allocateTables() {
    psns = new long[WAITING];
    addresses = new long[WAITING];
    keys = new int[WAITING];
    lengths = new int[WAITING];
    messages = new int[WAITING];
    links = new byte[WAITING];
  }

  private long packets(int length) {
    return Math.max(1, (length + mtu - 1L) / mtu);
  }

  boolean hasMore() {
    return count > 0;
  }

  /** Sends one train. Returns false when the socket is full. */
  boolean transmit() {
    if (lengths[0] > 0 && !rights.remoteRead(keys[0], addresses[0], lengths[0])) {
      remove(); /* the region was closed; the peer gets an error if it repeats the request */
      return true;
    }
    long base = memory.responseSlot();
    int link = links[0];
    outlet.selectFlow(link);
    int used = 0;
    int segment = 0;
    int at = offset;
    for (int i = 0; i < PacketSizes.TRAIN_PACKETS; i++) {
      int payload = Math.min(mtu, lengths[0] - at);
      boolean first = at == 0;
      boolean last = at + payload == lengths[0];
      int header = PacketFormat.BTH_BYTES + (first || last ? PacketFormat.AETH_BYTES : 0);
      int bytes = header + (payload + 3 & ~3) + PacketFormat.ICRC_BYTES;
      if (i == 0) {
        segment = bytes;
      } else if (bytes > segment || used + bytes > PacketSizes.TRAIN_BYTES) {
        break;
      }
      write(base + used, first, last, header, at, payload);
      used += bytes;
      at += payload;
      if (last || bytes < segment) {
        break;
      }
    }
    if (!outlet.sendResponse(link, base, used, segment)) {
      return false;
    }
    offset = at;
    if (offset == lengths[0]) {
      remove();
    }
    return true;
  }

  private void write(long packet, boolean first, boolean last, int header, int at, int payload) {
    int opcode =
        first
            ? (last ? PacketFormat.READ_RESPONSE_ONLY : PacketFormat.READ_RESPONSE_FIRST)
            : (last ? PacketFormat.READ_RESPONSE_LAST : PacketFormat.READ_RESPONSE_MIDDLE);
    int pad = -payload & 3;
    PacketFormat.writeBase(packet, opcode, pad, remoteNumber, psns[0] + at / mtu);
    if (first || last) {
      PacketFormat.writeAeth(
          packet + PacketFormat.BTH_BYTES, PacketFormat.SYNDROME_ACK, messages[0]);
    }
    if (payload > 0) {
      Memory.copy(addresses[0] + at, packet + header, payload);
      PacketFormat.clearPad(packet + header + payload, pad);
    }
    memory.icrcWriter().write(packet, header + payload + pad);
  }

  private void remove() {
    count--;
    System.arraycopy(psns, 1, psns, 0, count);
    System.arraycopy(addresses, 1, addresses, 0, count);
    System.arraycopy(keys, 1, keys, 0, count);
    System.arraycopy(lengths, 1, lengths, 0, count);
    System.arraycopy(messages, 1, messages, 0, count);
    System.arraycopy(links, 1, links, 0, count);
    offset = 0;
  }
}
