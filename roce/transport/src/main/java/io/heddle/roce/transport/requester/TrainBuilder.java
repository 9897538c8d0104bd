package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSeal;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.SendWorkRequest.Operation;

/**
 * Cuts send requests into packets and packs these into trains of equal segments (only the last may
 * be shorter), since one train is one kernel buffer and the number of those decides the speed.
 *
 * <p>Towards a soft peer an RDMA WRITE is a row of WRITE ONLY packets, each with its own RETH
 * (where its payload goes, and how much of the write begins there), so that any of them can be
 * placed without the others. A WRITE WITH IMMEDIATE is closed by a WRITE ONLY WITH IMMEDIATE whose
 * RETH names the whole write and whose payload, often empty, is the write's last bytes. Towards a
 * standard peer messages travel as FIRST, MIDDLE, LAST. Under the progress lock.
 */
final class TrainBuilder {
  /* What the last call of next() found; valid until the following call. */
  private int opcode;
  private int headerBytes;
  private int payloadBytes;
  private long retAddress;
  private int retLength;
  private boolean endsRequest;

  private final SendQueue queue;
  private final MemoryRights rights;
  private final PacketSeal seal;
  private int mtu = 1024;
  /* Payload of a full packet of a write to a soft peer. */
  private int writeBytes = 1024;
  private boolean softPeer;
  private int readBytes;
  /* The same where the way takes it. */
  private int wideBytes = 1024;
  /* A WRITE ONLY of the largest size. */
  private int fullBytes;
  private int remoteQueuePair;
  /* The same of data packets, with their mark beside it. */
  private int dataQueuePair;
  /* Bytes of the request at queue.started() that are in packets already. */
  private int offset;

  TrainBuilder(SendQueue queue, MemoryRights rights, PacketSeal seal) {
    this.queue = queue;
    this.rights = rights;
    this.seal = seal;
  }

  /**
   * What holds until the next reset; {@code readPackets} bounds the responses asked for by one READ
   * packet.
   */
  void configure(
      PacketSizes sizes, boolean peerIsSoft, int remoteQueuePairNumber, int readPackets) {
    mtu = sizes.mtuBytes();
    softPeer = peerIsSoft;
    remoteQueuePair = remoteQueuePairNumber;
    dataQueuePair = peerIsSoft ? PacketFormat.marked(remoteQueuePairNumber) : remoteQueuePairNumber;
    readBytes = readPackets * mtu;
    wideBytes = sizes.sentWriteBytes();
    cutBy(mtu);
    offset = 0;
  }

  private void cutBy(int payload) {
    writeBytes = payload;
    fullBytes = PacketFormat.WRITE_ONLY_BYTES + payload;
  }

  /** The next train goes a way that takes what was agreed on, or the path MTU only. */
  void cut(boolean wide) {
    cutBy(wide ? wideBytes : mtu);
  }

  /**
   * Writes a question whether the way takes packets of this payload: a write that names no memory,
   * with the number of one that has been executed.
   *
   * @return its bytes
   */
  int writeQuestion(long packet, long psn, int payload, int tag) {
    int third = PacketFormat.requestTagAndPsn(true, tag, psn);
    PacketFormat.writeBaseAndReth(
        packet, PacketFormat.WRITE_ONLY, 0, remoteQueuePair, third, 0, 0, 0);
    seal.seal(packet, PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + payload);
    return PacketFormat.WRITE_ONLY_BYTES + payload;
  }

  /** Forgets a request that was cut in part. */
  void restart() {
    offset = 0;
  }

  /** Bytes of the request at the front that are in packets already. */
  int offset() {
    return offset;
  }

  boolean hasMore() {
    return queue.started() < queue.posted();
  }

  boolean nextIsRead() {
    return queue.operation(queue.started()) == Operation.RDMA_READ;
  }

  /** Whether the request at the front is a packet, and a request of its own. */
  boolean nextIsSmall() {
    return hasMore() && !nextIsRead() && queue.lengthBytes(queue.started()) <= writeBytes;
  }

  /**
   * Whether the request at the front may use the local memory that it names. Asked for each train:
   * it may close between.
   */
  boolean nextIsAllowed() {
    long index = queue.started();
    if (queue.lengthBytes(index) == 0) {
      return true;
    }
    int key = queue.lkey(index);
    long address = queue.localAddress(index);
    int lengthBytes = queue.lengthBytes(index);
    return queue.operation(index) == Operation.RDMA_READ
        ? rights.localWrite(key, address, lengthBytes)
        : rights.localRead(key, address, lengthBytes);
  }

  /**
   * Builds the next train into the ring's tail slot and enters it there.
   *
   * @param room sequence numbers that it may take, at least 1
   * @param acknowledgeAll whether the end of each request asks for an acknowledgement
   * @param acknowledgeAt the packet of this sequence number asks for an acknowledgement
   * @param tag of the first packet, or {@link PacketFormat#NO_TAG}
   * @return first sequence number after it; {@code firstPsn} when the request at the front is not
   *     allowed its memory
   */
  long build(
      TransmitRing ring,
      long firstPsn,
      int room,
      boolean acknowledgeAll,
      long acknowledgeAt,
      int tag) {
    long address = ring.nextAddress();
    int segment = 0;
    int used = 0;
    long psn = firstPsn;
    while (psn - firstPsn < Math.min(room, PacketSizes.TRAIN_PACKETS) && hasMore()) {
      if ((used == 0 || offset == 0) && !nextIsAllowed()) {
        break;
      }
      if (nextIsRead()) {
        return used == 0
            ? buildRead(ring, address, firstPsn)
            : finish(ring, firstPsn, psn, segment, used);
      }
      int most = Math.min(room, PacketSizes.TRAIN_PACKETS) - (int) (psn - firstPsn);
      int run = used == 0 || segment == fullBytes ? fullPackets(used, most) : 0;
      if (run > 0) {
        buildRun(address + used, run, psn, acknowledgeAt, used == 0 ? tag : PacketFormat.NO_TAG);
        segment = fullBytes;
        used += run * fullBytes;
        psn += run;
        continue;
      }
      describeNext();
      int bytes = headerBytes + (payloadBytes + 3 & ~3) + PacketFormat.ICRC_BYTES;
      if (used == 0) {
        segment = bytes;
      } else if (bytes > segment || used + bytes > PacketSizes.TRAIN_BYTES) {
        break;
      }
      long index = queue.started();
      long packet = address + used;
      boolean acknowledge =
          psn == acknowledgeAt || endsRequest && (acknowledgeAll || index + 1 == queue.posted());
      write(
          packet,
          index,
          PacketFormat.requestTagAndPsn(acknowledge, used == 0 ? tag : PacketFormat.NO_TAG, psn));
      seal.seal(packet, bytes - PacketFormat.ICRC_BYTES);
      offset += payloadBytes;
      if (endsRequest) {
        queue.setLastPsn(index, psn);
        queue.start();
        offset = 0;
      }
      psn++;
      used += bytes;
      if (bytes < segment) {
        break;
      }
    }
    return finish(ring, firstPsn, psn, segment, used);
  }

  /* How many packets of the largest size come next, before the request's last one. */
  private int fullPackets(int used, int most) {
    long index = queue.started();
    int left = queue.lengthBytes(index) - offset;
    if (!softPeer || left <= writeBytes || !isWrite(queue.operation(index))) {
      return 0;
    }
    return Math.min(
        Math.min(most, (left - 1) / writeBytes), (PacketSizes.TRAIN_BYTES - used) / fullBytes);
  }

  /* The hottest loop of the sending side. */
  private void buildRun(long first, int count, long psn, long acknowledgeAt, int tag) {
    long index = queue.started();
    int rkey = queue.rkey(index);
    long local = queue.localAddress(index) + offset;
    long remote = queue.remoteAddress(index) + offset;
    int left = queue.lengthBytes(index) - offset;
    long packet = first;
    long end = psn + count;
    for (long next = psn; next < end; ) {
      /* Of a row that is made at once only the first may ask for an acknowledgement. */
      boolean split = acknowledgeAt > next && acknowledgeAt < end;
      int row =
          PacketSeal.copiesAndSeals(writeBytes) ? (int) ((split ? acknowledgeAt : end) - next) : 1;
      int third =
          PacketFormat.requestTagAndPsn(
              next == acknowledgeAt, next == psn ? tag : PacketFormat.NO_TAG, next);
      PacketFormat.writeBaseAndReth(
          packet, PacketFormat.WRITE_ONLY, 0, dataQueuePair, third, remote, rkey, left);
      if (PacketSeal.copiesAndSeals(writeBytes)) {
        seal.copyAndSeal(packet, row, local, writeBytes);
      } else {
        Memory.copy(local, packet + PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES, writeBytes);
        seal.seal(packet, fullBytes - PacketFormat.ICRC_BYTES);
      }
      next += row;
      local += (long) row * writeBytes;
      remote += (long) row * writeBytes;
      left -= row * writeBytes;
      packet += (long) row * fullBytes;
    }
    offset += count * writeBytes;
  }

  private static boolean isWrite(Operation operation) {
    return operation == Operation.RDMA_WRITE || operation == Operation.RDMA_WRITE_WITH_IMMEDIATE;
  }

  private long finish(TransmitRing ring, long firstPsn, long psn, int segment, int used) {
    int packets = (int) (psn - firstPsn);
    if (packets > 0) {
      ring.add(firstPsn, packets, packets, segment, used);
    }
    return psn;
  }

  private long buildRead(TransmitRing ring, long packet, long psn) {
    long index = queue.started();
    int bytes = Math.min(readBytes, queue.lengthBytes(index) - offset);
    int span = Math.max(1, (bytes + mtu - 1) / mtu);
    writeRead(packet, psn, queue.remoteAddress(index) + offset, queue.rkey(index), bytes);
    offset += bytes;
    if (offset == queue.lengthBytes(index)) {
      queue.setLastPsn(index, psn + span - 1);
      queue.start();
      offset = 0;
    }
    ring.add(psn, 1, span, PacketFormat.READ_REQUEST_BYTES, PacketFormat.READ_REQUEST_BYTES);
    return psn + span;
  }

  /** Writes a READ request; also over an earlier one, to ask again for what is missing. */
  void writeRead(long packet, long psn, long remoteAddress, int rkey, int bytes) {
    PacketFormat.writeBase(packet, PacketFormat.READ_REQUEST, 0, remoteQueuePair, psn);
    PacketFormat.setAcknowledgeRequest(packet);
    PacketFormat.writeReth(packet + PacketFormat.BTH_BYTES, remoteAddress, rkey, bytes);
    seal.seal(packet, PacketFormat.READ_REQUEST_BYTES - PacketFormat.ICRC_BYTES);
  }

  /**
   * Makes finished packets of a slot, or of its copy, ready to be sent again: the last of them asks
   * for an acknowledgement and has the tag, the others have none, so that no answer is taken for
   * one to an earlier sending.
   *
   * @param address where the slot or its copy begins
   * @param sealAnew whether they may go by another link than before
   */
  void markAgain(
      TransmitRing ring, long slot, long address, int from, int to, int tag, boolean sealAnew) {
    int segment = ring.segmentBytes(slot);
    for (int i = from; i < to; i++) {
      long packet = address + (long) i * segment;
      boolean last = i == to - 1;
      boolean request = last || PacketFormat.acknowledgeRequested(packet);
      int wanted = last ? tag : PacketFormat.NO_TAG;
      if (sealAnew
          || PacketFormat.tag(packet) != wanted
          || PacketFormat.acknowledgeRequested(packet) != request) {
        PacketFormat.setRequestAndTag(packet, request, wanted);
        int bytes = i == ring.packets(slot) - 1 ? ring.totalBytes(slot) - i * segment : segment;
        seal.seal(packet, bytes - PacketFormat.ICRC_BYTES);
      }
    }
  }

  private void describeNext() {
    long index = queue.started();
    Operation operation = queue.operation(index);
    int length = queue.lengthBytes(index);
    boolean write = isWrite(operation);
    if (write && softPeer) {
      describeSoftWrite(
          operation == Operation.RDMA_WRITE_WITH_IMMEDIATE, queue.remoteAddress(index), length);
    } else {
      describeMessage(operation, write, queue.remoteAddress(index), length);
    }
  }

  private void describeSoftWrite(boolean withImmediate, long remoteAddress, int length) {
    int left = length - offset;
    /* The immediate adds four bytes, so a closing packet with data is no longer than the train's segments only when it
    carries four bytes less than the others. A write that fits one packet is one packet. */
    boolean closing =
        withImmediate && ((left + 3 & ~3) <= writeBytes - 4 || offset == 0 && length <= writeBytes);
    payloadBytes = Math.min(writeBytes, left);
    if (closing) {
      opcode = PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
      headerBytes = PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + PacketFormat.IMMEDIATE_BYTES;
      retAddress = remoteAddress;
      retLength = length;
      endsRequest = true;
    } else {
      opcode = PacketFormat.WRITE_ONLY;
      headerBytes = PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES;
      retAddress = remoteAddress + offset;
      /* To the end of the write, not of the packet: the first packet that comes shows whether all of it is allowed. */
      retLength = left;
      endsRequest = !withImmediate && payloadBytes == left;
    }
  }

  private void describeMessage(Operation operation, boolean write, long remoteAddress, int length) {
    int left = length - offset;
    boolean first = offset == 0;
    boolean last = left <= mtu;
    boolean immediate =
        last
            && (operation == Operation.RDMA_WRITE_WITH_IMMEDIATE
                || operation == Operation.SEND_WITH_IMMEDIATE);
    /* The opcodes of a family lie in the order FIRST, MIDDLE, LAST, LAST WITH IMMEDIATE, ONLY, ONLY WITH IMMEDIATE. */
    int inFamily = first ? (last ? 4 : 0) : (last ? 2 : 1);
    opcode =
        (write ? PacketFormat.WRITE_FIRST : PacketFormat.SEND_FIRST)
            + inFamily
            + (immediate ? 1 : 0);
    headerBytes =
        PacketFormat.BTH_BYTES
            + (write && first ? PacketFormat.RETH_BYTES : 0)
            + (immediate ? PacketFormat.IMMEDIATE_BYTES : 0);
    payloadBytes = Math.min(mtu, left);
    retAddress = remoteAddress;
    retLength = length;
    endsRequest = last;
  }

  private void write(long packet, long index, int requestTagAndPsn) {
    int pad = -payloadBytes & 3;
    long at = packet + PacketFormat.BTH_BYTES;
    if (PacketFormat.hasReth(opcode)) {
      PacketFormat.writeBaseAndReth(
          packet,
          opcode,
          pad,
          dataQueuePair,
          requestTagAndPsn,
          retAddress,
          queue.rkey(index),
          retLength);
      at += PacketFormat.RETH_BYTES;
    } else {
      PacketFormat.writeBaseWords(packet, opcode, pad, remoteQueuePair, requestTagAndPsn);
    }
    if (PacketFormat.hasImmediate(opcode)) {
      Memory.ALL.set(Memory.NETWORK_INT, at, queue.immediate(index));
      at += PacketFormat.IMMEDIATE_BYTES;
    }
    if (payloadBytes > 0) {
      Memory.copy(queue.localAddress(index) + offset, at, payloadBytes);
      if (pad != 0) {
        PacketFormat.clearPad(at + payloadBytes, pad);
      }
    }
  }
}
