package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.SendWorkRequest.Operation;

/**
 * Builder of trains from send requests. A train is a sequence of packets of equal length; only the
 * last may be shorter. A train takes one kernel buffer, and the number of buffers determines the
 * speed.
 *
 * <p>To a soft peer an RDMA WRITE is a sequence of WRITE ONLY packets. Each has its own RETH, with
 * the address of its payload and the remaining length of the write, so it can be placed
 * independently. A WRITE WITH IMMEDIATE ends with a WRITE ONLY WITH IMMEDIATE. Its RETH covers the
 * whole write; its payload, often empty, is the write's last bytes. To a standard peer, messages
 * are FIRST, MIDDLE, LAST. Used under the progress lock.
 */
final class TrainBuilder {
  /* Description of the next packet, set by describeNext() and valid until its next call. */
  private int opcode;
  private int headerBytes;
  private int payloadBytes;
  private long retAddress;
  private int retLength;
  private boolean endsRequest;

  private final SendQueue queue;
  private final MemoryRights rights;
  private final IcrcWriter icrc;
  private int mtu = 1024;
  /* Payload of a full packet of a write to a soft peer, in bytes. */
  private int writeBytes = 1024;
  private boolean softPeer;
  private int readBytes;
  /*
   * Payload of a full packet of the size agreed with a soft peer, in bytes. Used on paths that
   * carry packets larger than the path MTU.
   */
  private int wideBytes = 1024;
  /* Length of a full WRITE ONLY packet, in bytes. */
  private int fullBytes;
  private int remoteQueuePair;
  /* Remote queue pair number, with the flag that marks data packets to a soft peer. */
  private int dataQueuePair;
  /* Bytes of the request at queue.started() that are in packets already. */
  private int offset;

  TrainBuilder(SendQueue queue, MemoryRights rights, IcrcWriter icrc) {
    this.queue = queue;
    this.rights = rights;
    this.icrc = icrc;
  }

  /** Configures the connection; {@code readPackets} bounds the responses to one READ packet. */
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

  /** Sets the packet size of the next train: the agreed one, or the path MTU. */
  void cut(boolean wide) {
    cutBy(wide ? wideBytes : mtu);
  }

  /**
   * Writes a probe with this number of payload bytes: a WRITE of length 0 that has the sequence
   * number of a packet that the peer has executed.
   *
   * @return length of the probe in bytes
   */
  int writeProbe(long packet, long psn, int payload, int tag) {
    int third = PacketFormat.requestTagAndPsn(true, tag, psn);
    PacketFormat.writeBaseAndReth(
        packet, PacketFormat.WRITE_ONLY, 0, remoteQueuePair, third, 0, 0, 0);
    icrc.write(packet, PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + payload);
    return PacketFormat.WRITE_ONLY_BYTES + payload;
  }

  /** Forgets that a part of the next request is in packets already. */
  void restart() {
    offset = 0;
  }

  /** Returns how many bytes of the next request are in packets already. */
  int offset() {
    return offset;
  }

  boolean hasMore() {
    return queue.started() < queue.posted();
  }

  boolean isNextRead() {
    return queue.operation(queue.started()) == Operation.RDMA_READ;
  }

  /** Returns whether the next request is no READ and fits one packet. */
  boolean isNextSmall() {
    return hasMore() && !isNextRead() && queue.lengthBytes(queue.started()) <= writeBytes;
  }

  /**
   * Returns whether the next request may access its local memory. This is checked for each train,
   * since the region may be closed meanwhile.
   */
  boolean isNextAllowed() {
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
   * Builds the next train in the memory of the ring's next slot, and adds it to the ring.
   *
   * @param room largest number of sequence numbers, at least 1
   * @param acknowledgeAll whether the last packet of each request requests an acknowledgement
   * @param acknowledgeAt sequence number of a packet that requests an acknowledgement
   * @param tag tag of the first packet, or {@link PacketFormat#NO_TAG}
   * @return first sequence number after the train; {@code firstPsn} if the next request isn't
   *     permitted to access its memory
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
      if ((used == 0 || offset == 0) && !isNextAllowed()) {
        break;
      }
      if (isNextRead()) {
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
      icrc.write(packet, bytes - PacketFormat.ICRC_BYTES);
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

  /* Returns the number of full packets that come next, before the request's last packet. */
  private int fullPackets(int used, int most) {
    long index = queue.started();
    int left = queue.lengthBytes(index) - offset;
    if (!softPeer || left <= writeBytes || !isWrite(queue.operation(index))) {
      return 0;
    }
    return Math.min(
        Math.min(most, (left - 1) / writeBytes), (PacketSizes.TRAIN_BYTES - used) / fullBytes);
  }

  /* Builds full packets; the hottest loop of the sending side. */
  private void buildRun(long first, int count, long psn, long acknowledgeAt, int tag) {
    long index = queue.started();
    int rkey = queue.rkey(index);
    long local = queue.localAddress(index) + offset;
    long remote = queue.remoteAddress(index) + offset;
    int left = queue.lengthBytes(index) - offset;
    long packet = first;
    long end = psn + count;
    for (long next = psn; next < end; ) {
      /*
       * The packets of one buildPackets() call share a header, so only the first of them may
       * request an acknowledgement.
       */
      boolean split = acknowledgeAt > next && acknowledgeAt < end;
      int row =
          IcrcWriter.canBuildPackets(writeBytes) ? (int) ((split ? acknowledgeAt : end) - next) : 1;
      int third =
          PacketFormat.requestTagAndPsn(
              next == acknowledgeAt, next == psn ? tag : PacketFormat.NO_TAG, next);
      PacketFormat.writeBaseAndReth(
          packet, PacketFormat.WRITE_ONLY, 0, dataQueuePair, third, remote, rkey, left);
      if (IcrcWriter.canBuildPackets(writeBytes)) {
        icrc.buildPackets(packet, row, local, writeBytes);
      } else {
        Memory.copy(local, packet + PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES, writeBytes);
        icrc.write(packet, fullBytes - PacketFormat.ICRC_BYTES);
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

  /**
   * Writes a READ request. It may overwrite an earlier request, to request missing responses again.
   */
  void writeRead(long packet, long psn, long remoteAddress, int rkey, int bytes) {
    PacketFormat.writeBase(packet, PacketFormat.READ_REQUEST, 0, remoteQueuePair, psn);
    PacketFormat.setAcknowledgeRequest(packet);
    PacketFormat.writeReth(packet + PacketFormat.BTH_BYTES, remoteAddress, rkey, bytes);
    icrc.write(packet, PacketFormat.READ_REQUEST_BYTES - PacketFormat.ICRC_BYTES);
  }

  /**
   * Prepares finished packets of a slot, or of the slot's copy, for retransmission. The last packet
   * gets an acknowledge request and the tag. The other packets keep their acknowledge requests but
   * lose their tags. So an answer to an earlier transmission can't be mistaken for an answer to
   * this one.
   *
   * @param address address of the slot or its copy
   * @param sealAnew whether the packets' link may have changed
   */
  void prepareRetransmission(
      TransmitRing ring, long slot, long address, int from, int to, int tag, boolean sealAnew) {
    int segment = ring.segmentBytes(slot);
    for (int i = from; i < to; i++) {
      long packet = address + (long) i * segment;
      boolean last = i == to - 1;
      boolean request = last || PacketFormat.isAcknowledgeRequested(packet);
      int wanted = last ? tag : PacketFormat.NO_TAG;
      if (sealAnew
          || PacketFormat.tag(packet) != wanted
          || PacketFormat.isAcknowledgeRequested(packet) != request) {
        PacketFormat.setRequestAndTag(packet, request, wanted);
        int bytes = i == ring.packets(slot) - 1 ? ring.totalBytes(slot) - i * segment : segment;
        icrc.write(packet, bytes - PacketFormat.ICRC_BYTES);
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
    /*
     * The immediate adds four bytes. So a last packet with data and the immediate fits the train's
     * segment length only if its payload is four bytes shorter. A write that fits one packet is
     * sent as one packet.
     */
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
      /*
       * The RETH's length covers the rest of the write, not only this packet. So the first packet
       * that arrives lets the peer check access to that whole rest.
       */
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
    /*
     * The opcodes of SEND and those of WRITE are in the order FIRST, MIDDLE, LAST, LAST WITH
     * IMMEDIATE, ONLY, ONLY WITH IMMEDIATE.
     */
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
