package io.heddle.roce.wire;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/**
 * Packet format of the unreliable datagram service, as bytes at an address (InfiniBand Architecture
 * Specification, volume 1, sections 9.2 and 9.3.4).
 *
 * <pre>
 *  0        1        2        3
 * |opcode   |S M pd v|partition key     |   BTH, 12 bytes
 * |F B resv |destination queue pair     |
 * |A resv   |packet sequence number     |
 * |queue key                            |   DETH, 8 bytes
 * |resv     |source queue pair          |
 * |immediate, where the opcode has it   |   4 bytes
 * |payload, pad to four bytes           |
 * |invariant CRC, little-endian         |   4 bytes
 * </pre>
 */
public final class DatagramFormat {
  public static final int DETH_BYTES = 8;

  public static final int SEND_ONLY = 0x64;
  public static final int SEND_ONLY_WITH_IMMEDIATE = 0x65;

  /** Destination queue pair of multicast packets. */
  public static final int MULTICAST_QUEUE_PAIR = 0xff_ffff;

  /** Length of BTH and DETH, the minimal headers. */
  public static final int HEADER_BYTES = PacketFormat.BTH_BYTES + DETH_BYTES;

  /** Length of a packet without payload. */
  public static final int LEAST_BYTES = HEADER_BYTES + PacketFormat.ICRC_BYTES;

  /** Offset of the congestion marks, which the invariant CRC excludes. */
  public static final int MARKS_OFFSET = 4;

  private static final int QUEUE_KEY = 12;
  private static final int SOURCE = 16;
  private static final int IMMEDIATE = 20;

  private DatagramFormat() {}

  /**
   * Returns whether these bytes are a packet of this service: long enough, whole words, a known
   * opcode, transport version 0, and no more pad than payload. The CRC isn't checked.
   *
   * @param lengthBytes length from the BTH to the end of the CRC
   */
  public static boolean isDatagram(long packet, int lengthBytes) {
    if (lengthBytes < LEAST_BYTES || (lengthBytes & 3) != 0) {
      return false;
    }
    int opcode = PacketFormat.opcode(packet);
    if (opcode != SEND_ONLY && opcode != SEND_ONLY_WITH_IMMEDIATE) {
      return false;
    }
    boolean version = (Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + 1) & 15) == 0;
    return version && payloadBytes(packet, lengthBytes) >= 0;
  }

  /** Returns the length of the headers before the payload. */
  public static int headerBytes(int opcode) {
    return HEADER_BYTES + (opcode == SEND_ONLY_WITH_IMMEDIATE ? PacketFormat.IMMEDIATE_BYTES : 0);
  }

  /**
   * Returns the length of the payload without pad; negative where the packet is too short for its
   * headers.
   */
  public static int payloadBytes(long packet, int lengthBytes) {
    return lengthBytes
        - headerBytes(PacketFormat.opcode(packet))
        - PacketFormat.pad(packet)
        - PacketFormat.ICRC_BYTES;
  }

  public static int queueKey(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + QUEUE_KEY);
  }

  public static int sourceQueuePair(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + SOURCE) & PacketFormat.PSN_MASK;
  }

  public static void setSourceQueuePair(long packet, int number) {
    Memory.ALL.set(Memory.NETWORK_INT, packet + SOURCE, number);
  }

  /** Sets the destination in the BTH and clears the congestion marks. */
  public static void setQueuePair(long packet, int number) {
    Memory.ALL.set(Memory.NETWORK_INT, packet + MARKS_OFFSET, number);
  }

  public static void setQueueKey(long packet, int key) {
    Memory.ALL.set(Memory.NETWORK_INT, packet + QUEUE_KEY, key);
  }

  /** Returns the immediate of a {@link #SEND_ONLY_WITH_IMMEDIATE} packet, in host order. */
  public static int immediate(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + IMMEDIATE);
  }

  /** Writes the immediate of a {@link #SEND_ONLY_WITH_IMMEDIATE} packet. */
  public static void setImmediate(long packet, int immediate) {
    Memory.ALL.set(Memory.NETWORK_INT, packet + IMMEDIATE, immediate);
  }

  /**
   * Writes BTH and DETH with the default partition key.
   *
   * @param pad bytes after the payload, 0 to 3
   */
  public static void write(
      long packet, int pad, int queuePair, int psn, int queueKey, int sourceQueuePair) {
    write(packet, SEND_ONLY, pad, queuePair, psn, queueKey, sourceQueuePair);
  }

  /**
   * Writes BTH and DETH with an opcode of this service; {@link #setImmediate} writes the immediate.
   *
   * @param pad bytes after the payload, 0 to 3
   */
  public static void write(
      long packet, int opcode, int pad, int queuePair, int psn, int queueKey, int sourceQueuePair) {
    PacketFormat.writeBase(packet, opcode, pad, queuePair, psn);
    Memory.ALL.set(Memory.NETWORK_INT, packet + QUEUE_KEY, queueKey);
    Memory.ALL.set(Memory.NETWORK_INT, packet + SOURCE, sourceQueuePair);
  }

  /** Describes a packet in one line. The bytes must be {@linkplain #isDatagram a packet}. */
  public static String describe(long packet, int lengthBytes) {
    int opcode = PacketFormat.opcode(packet);
    String immediate =
        opcode == SEND_ONLY_WITH_IMMEDIATE
            ? String.format(Locale.ROOT, " immediate 0x%08x", immediate(packet))
            : "";
    return String.format(
        Locale.ROOT,
        "UD SEND to queue pair 0x%06x from 0x%06x, queue key 0x%08x, psn 0x%06x%s, %d bytes",
        PacketFormat.queuePair(packet),
        sourceQueuePair(packet),
        queueKey(packet),
        PacketFormat.psn(packet),
        immediate,
        payloadBytes(packet, lengthBytes));
  }
}
