package io.heddle.roce.wire;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;

/**
 * Packet format of the reliable connection, as bytes at an absolute address; no object per packet.
 *
 * <p>A packet may have a tag in the seven reserved bits beside the acknowledge request of the BTH.
 * An acknowledgement between soft devices returns the tag of the newest tagged packet. After the
 * AETH it has the longest time, in microseconds (32 bits), that the tagged packet may have waited
 * at the receiver. A bitmap of packets received after the first gap may follow: 64-bit words,
 * big-endian. The first word has the bit of the first missing sequence number.
 *
 * <p>Data packets between soft devices have {@link #DATA_MARK}, so switches may spray them over
 * links. All other packets have zero instead of the mark, and switches keep their order.
 */
public final class PacketFormat {
  public static final int BTH_BYTES = 12;
  public static final int RETH_BYTES = 16;
  public static final int AETH_BYTES = 4;
  public static final int WAITED_BYTES = 4;
  public static final int IMMEDIATE_BYTES = 4;
  public static final int ICRC_BYTES = 4;

  /** Length of a WRITE ONLY packet without payload. */
  public static final int WRITE_ONLY_BYTES = BTH_BYTES + RETH_BYTES + ICRC_BYTES;

  public static final int READ_REQUEST_BYTES = BTH_BYTES + RETH_BYTES + ICRC_BYTES;

  /** Offset in the BTH of the byte that the ICRC doesn't cover. */
  public static final int MARK_OFFSET = 4;

  public static final int PSN_MASK = 0xff_ffff;

  /** UDP port of RoCEv2. */
  public static final int ROCE_PORT = 4791;

  /** Tag value of a packet without tag. */
  public static final int NO_TAG = 0;

  /**
   * Mark of a packet that may be reordered. The mark is in the six reserved bits beside the
   * congestion marks; the ICRC covers neither. WRITE ONLY and WRITE ONLY WITH IMMEDIATE between
   * soft devices have the mark. SprayLink (H3C white paper 6W100, "Application scenarios") treats a
   * packet with 0 there as a protocol packet and keeps it on one link.
   */
  public static final int DATA_MARK = 1;

  /** Number of {@linkplain #setPiece pieces} of a split packet. */
  public static final int PIECES = 3;

  /*
   * NCCL's protocol LL128 treats a line of this length as complete once its last eight bytes have
   * arrived. LL treats eight bytes as complete once the last four have arrived.
   */
  private static final int LINE_BYTES = 128;

  public static final int SEND_FIRST = 0x00;
  public static final int SEND_MIDDLE = 0x01;
  public static final int SEND_LAST = 0x02;
  public static final int SEND_LAST_WITH_IMMEDIATE = 0x03;
  public static final int SEND_ONLY = 0x04;
  public static final int SEND_ONLY_WITH_IMMEDIATE = 0x05;
  public static final int WRITE_FIRST = 0x06;
  public static final int WRITE_MIDDLE = 0x07;
  public static final int WRITE_LAST = 0x08;
  public static final int WRITE_LAST_WITH_IMMEDIATE = 0x09;
  public static final int WRITE_ONLY = 0x0a;
  public static final int WRITE_ONLY_WITH_IMMEDIATE = 0x0b;
  public static final int READ_REQUEST = 0x0c;
  public static final int READ_RESPONSE_FIRST = 0x0d;
  public static final int READ_RESPONSE_MIDDLE = 0x0e;
  public static final int READ_RESPONSE_LAST = 0x0f;
  public static final int READ_RESPONSE_ONLY = 0x10;
  public static final int ACKNOWLEDGE = 0x11;

  /** Single-packet datagram to an unconnected queue pair (UD SEND ONLY). */
  public static final int DATAGRAM_ONLY = 0x64;

  /** Congestion notification packet (CNP): tells a sender that a switch has marked its packet. */
  public static final int CONGESTION_NOTIFICATION = 0x81;

  /** Queue pair 1 of the general services, which connection managers use. */
  public static final int MANAGEMENT_QUEUE_PAIR = 1;

  /** Several packets in one datagram; a manufacturer-defined opcode. */
  public static final int BUNDLE = 0xc0;

  public static final int SYNDROME_ACK = 0x1f;
  public static final int SYNDROME_RECEIVER_NOT_READY = 0x20;
  public static final int SYNDROME_SEQUENCE_ERROR = 0x60;
  public static final int SYNDROME_INVALID_REQUEST = 0x61;
  public static final int SYNDROME_REMOTE_ACCESS = 0x62;
  public static final int SYNDROME_REMOTE_OPERATION = 0x63;

  /** RNR timers by code, 0 to 31, in units of 10 µs. */
  private static final int[] RNR_TIMER = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
  };

  private PacketFormat() {}

  public static long receiverNotReadyNs(int timerCode) {
    return RNR_TIMER[timerCode & 31] * 10_000L;
  }

  /**
   * Returns the length of the extended headers of this opcode, or −1 if it isn't a supported RC
   * opcode.
   */
  public static int extendedHeaderBytes(int opcode) {
    return switch (opcode) {
      case SEND_FIRST,
          SEND_MIDDLE,
          SEND_LAST,
          SEND_ONLY,
          WRITE_MIDDLE,
          WRITE_LAST,
          READ_RESPONSE_MIDDLE,
          BUNDLE ->
          0;
      case SEND_LAST_WITH_IMMEDIATE, SEND_ONLY_WITH_IMMEDIATE, WRITE_LAST_WITH_IMMEDIATE ->
          IMMEDIATE_BYTES;
      case WRITE_FIRST, WRITE_ONLY, READ_REQUEST -> RETH_BYTES;
      case WRITE_ONLY_WITH_IMMEDIATE -> RETH_BYTES + IMMEDIATE_BYTES;
      case READ_RESPONSE_FIRST, READ_RESPONSE_LAST, READ_RESPONSE_ONLY, ACKNOWLEDGE -> AETH_BYTES;
      default -> -1;
    };
  }

  public static boolean hasReth(int opcode) {
    return opcode == WRITE_FIRST
        || opcode == WRITE_ONLY
        || opcode == WRITE_ONLY_WITH_IMMEDIATE
        || opcode == READ_REQUEST;
  }

  public static boolean hasImmediate(int opcode) {
    return opcode == SEND_LAST_WITH_IMMEDIATE
        || opcode == SEND_ONLY_WITH_IMMEDIATE
        || opcode == WRITE_LAST_WITH_IMMEDIATE
        || opcode == WRITE_ONLY_WITH_IMMEDIATE;
  }

  public static void writeBase(long packet, int opcode, int pad, int queuePair, long psn) {
    writeBaseWords(packet, opcode, pad, queuePair, (int) psn & PSN_MASK);
  }

  public static void writeBaseWords(
      long packet, int opcode, int pad, int queuePair, int requestTagAndPsn) {
    Memory.ALL.set(Memory.NETWORK_LONG, packet, firstWord(opcode, pad, queuePair));
    Memory.ALL.set(Memory.NETWORK_INT, packet + 8, requestTagAndPsn);
  }

  /** Returns a queue pair's number with the data mark in the byte above it. */
  public static int marked(int queuePair) {
    return DATA_MARK << 24 | queuePair;
  }

  /** Returns whether the packet has the data mark and no congestion marks. */
  public static boolean isData(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + MARK_OFFSET) == DATA_MARK;
  }

  /**
   * Returns the BTH's first eight bytes: opcode | SE, M, pad, TVer | default partition key |
   * congestion marks, data mark | queue pair.
   */
  public static long firstWord(int opcode, int pad, int queuePair) {
    return (long) (opcode << 24 | pad << 20 | 0xffff) << 32 | queuePair;
  }

  /**
   * Writes BTH and RETH with one store per word: in C1 code each store costs as much as the CRC of
   * half a kilobyte.
   */
  public static void writeBaseAndReth(
      long packet,
      int opcode,
      int pad,
      int queuePair,
      int requestTagAndPsn,
      long address,
      int key,
      int length) {
    Memory.ALL.set(Memory.NETWORK_LONG, packet, firstWord(opcode, pad, queuePair));
    Memory.ALL.set(Memory.NETWORK_LONG, packet + 8, (long) requestTagAndPsn << 32 | address >>> 32);
    Memory.ALL.set(Memory.NETWORK_LONG, packet + 16, address << 32 | key & 0xffff_ffffL);
    Memory.ALL.set(Memory.NETWORK_INT, packet + 24, length);
  }

  /** Returns the BTH's third word: acknowledge request, tag, sequence number. */
  public static int requestTagAndPsn(boolean request, int tag, long psn) {
    return (request ? 1 << 31 : 0) | tag << 24 | (int) psn & PSN_MASK;
  }

  public static void setAcknowledgeRequest(long packet) {
    setRequestAndTag(packet, true, NO_TAG);
  }

  /** Sets the packet's acknowledge request and its tag. */
  public static void setRequestAndTag(long packet, boolean request, int tag) {
    Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 8, (byte) (request ? 0x80 | tag : tag));
  }

  public static int tag(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 8) & 0x7f;
  }

  public static void writeReth(long at, long address, int key, int length) {
    Memory.ALL.set(Memory.NETWORK_LONG, at, address);
    Memory.ALL.set(Memory.NETWORK_INT, at + 8, key);
    Memory.ALL.set(Memory.NETWORK_INT, at + 12, length);
  }

  public static void writeAeth(long at, int syndrome, int messages) {
    Memory.ALL.set(Memory.NETWORK_INT, at, syndrome << 24 | messages & PSN_MASK);
  }

  public static void clearPad(long at, int count) {
    for (int i = 0; i < count; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
    }
  }

  /*
   * Accessors on words of the BTH that the caller has read: firstWord is its first eight bytes,
   * thirdWord its last four.
   */

  public static int opcodeOf(long firstWord) {
    return (int) (firstWord >>> 56);
  }

  public static int padOf(long firstWord) {
    return (int) (firstWord >>> 52) & 3;
  }

  /** Returns whether transport version and partition key are supported. */
  public static boolean isHeaderRight(long firstWord) {
    return isVersionRight(firstWord) && (firstWord >>> 32 & 0x7fff) == 0x7fff;
  }

  /** Returns whether the transport version is 0. */
  public static boolean isVersionRight(long firstWord) {
    return (firstWord >>> 48 & 15) == 0;
  }

  public static int queuePairOf(long firstWord) {
    return (int) firstWord & PSN_MASK;
  }

  /** Returns whether the packet has congestion marks or the data mark. */
  public static boolean isMarked(long firstWord) {
    return ((int) firstWord & ~PSN_MASK) != 0;
  }

  public static boolean requestsAcknowledgement(int thirdWord) {
    return thirdWord < 0;
  }

  public static int tagOf(int thirdWord) {
    return thirdWord >>> 24 & 0x7f;
  }

  /**
   * Returns the number of this piece of a packet, from 1, or 0 for a whole packet. Soft devices
   * encode it in the BTH's bits for solicited event and migration.
   */
  public static int piece(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 1) >> 6 & 3;
  }

  public static void setPiece(long packet, int piece) {
    byte was = Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 1);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 1, (byte) (was & 0x3f | piece << 6));
  }

  /**
   * Returns the length of all pieces of a payload but the last: a multiple of 128 bytes, so that a
   * late piece leaves no partial LL128 line. The last piece, immediate included, is no longer than
   * the other pieces, since all are segments of one send.
   */
  public static int pieceBytes(int payloadBytes) {
    int least = (payloadBytes + IMMEDIATE_BYTES + PIECES - 1) / PIECES;
    return (least + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
  }

  public static int psnOf(int thirdWord) {
    return thirdWord & PSN_MASK;
  }

  public static int opcode(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet) & 0xff;
  }

  public static int pad(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 1) >> 4 & 3;
  }

  public static int queuePair(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + 4) & PSN_MASK;
  }

  public static boolean isAcknowledgeRequested(long packet) {
    return Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 8) < 0;
  }

  public static int psn(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + 8) & PSN_MASK;
  }

  public static int networkInt(long at) {
    return Memory.ALL.get(Memory.NETWORK_INT, at);
  }

  public static long networkLong(long at) {
    return Memory.ALL.get(Memory.NETWORK_LONG, at);
  }

  /** Returns the sequence number with these low 24 bits that is nearest to {@code near}. */
  public static long expand(int psn24, long near) {
    int difference = psn24 - (int) near << 8 >> 8;
    return near + difference;
  }
}
