package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.wire.PacketFormat;

/**
 * Sender of a wide WRITE packet in three pieces within the path MTU, each with the packet's
 * sequence number, its own RETH and checksum. A switch that drops packets of the agreed size lets
 * the pieces pass. Only the last piece has an immediate, a tag and an acknowledge request. Used
 * under the progress lock.
 */
final class PieceSender {
  private final PacketOutlet outlet;
  private final PacketMemory memory;

  PieceSender(PacketOutlet outlet, PacketMemory memory) {
    this.outlet = outlet;
    this.memory = memory;
  }

  /**
   * Sends the packet's pieces over this link. A tag implies an acknowledge request. Returns false
   * when the socket is full.
   */
  boolean send(int link, long packet, int packetBytes, int tag) {
    long firstWord = PacketFormat.networkLong(packet);
    boolean immediate = PacketFormat.hasImmediate(PacketFormat.opcodeOf(firstWord));
    int headerBytes =
        PacketFormat.BTH_BYTES
            + PacketFormat.RETH_BYTES
            + (immediate ? PacketFormat.IMMEDIATE_BYTES : 0);
    int pad = PacketFormat.padOf(firstWord);
    int payloadBytes = packetBytes - headerBytes - PacketFormat.ICRC_BYTES - pad;
    int queuePair = (int) firstWord; /* includes the flag that marks data packets */
    int psn = PacketFormat.psn(packet);
    long reth = packet + PacketFormat.BTH_BYTES;
    long address = PacketFormat.networkLong(reth);
    int key = PacketFormat.networkInt(reth + 8);
    int length = PacketFormat.networkInt(reth + 12);
    /*
     * The RETH of a packet with immediate covers the whole write; the packet's payload is the
     * write's end.
     */
    long to = immediate ? address + length - payloadBytes : address;
    int left = immediate ? payloadBytes : length;
    int each = PacketFormat.pieceBytes(payloadBytes);
    long base = memory.scratch();
    long at = base;
    for (int offset = 0; offset < payloadBytes; offset += each) {
      int bytes = Math.min(each, payloadBytes - offset);
      boolean last = offset + each >= payloadBytes;
      boolean closes = last && immediate;
      PacketFormat.writeBaseAndReth(
          at,
          closes ? PacketFormat.WRITE_ONLY_WITH_IMMEDIATE : PacketFormat.WRITE_ONLY,
          last ? pad : 0,
          queuePair,
          last
              ? PacketFormat.requestTagAndPsn(tag != PacketFormat.NO_TAG, tag, psn)
              : PacketFormat.requestTagAndPsn(false, PacketFormat.NO_TAG, psn),
          closes ? address : to + offset,
          key,
          closes ? length : left - offset);
      PacketFormat.setPiece(at, offset / each + 1);
      long payload = at + PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES;
      if (closes) {
        Memory.copy(reth + PacketFormat.RETH_BYTES, payload, PacketFormat.IMMEDIATE_BYTES);
        payload += PacketFormat.IMMEDIATE_BYTES;
      }
      Memory.copy(packet + headerBytes + offset, payload, bytes);
      int padded = last ? bytes + pad : bytes;
      PacketFormat.clearPad(payload + bytes, padded - bytes);
      memory.icrcWriter().write(at, (int) (payload - at) + padded);
      at = payload + padded + PacketFormat.ICRC_BYTES;
    }
    return outlet.send(link, base, (int) (at - base), each + PacketFormat.WRITE_ONLY_BYTES);
  }
}
