package io.heddle.cli.lab;

import java.nio.ByteBuffer;

/**
 * Packets that no peer of good will sends to port 4791, and by which name the soft device counts
 * each.
 */
public enum FloodPacket {
  /** A datagram without a byte. */
  EMPTY("dropped_too_short"),

  /** Shorter than headers and checksum. */
  SHORT("dropped_too_short"),

  /** No multiple of four bytes. */
  ODD("dropped_bad_length"),

  /** More padding than it has bytes. */
  PADDED("dropped_bad_length"),

  /** Of no kind that there is. */
  UNKNOWN("dropped_unknown_opcode"),

  /** Of a connection that promises nothing. */
  UNRELIABLE("dropped_unknown_opcode"),

  /** A management datagram for queue pair 1. */
  MANAGEMENT("dropped_management"),

  /** Of a transport version to come. */
  VERSION("dropped_bad_header"),

  /** Of another partition. */
  PARTITION("dropped_wrong_partition"),

  /** For a queue pair that isn't there. */
  STRANGER("dropped_unknown_queue_pair"),

  /** A congestion notification. */
  NOTIFICATION("congestion_notifications"),

  /** The same as {@link #STRANGER}, marked by a switch. */
  MARKED("packets_marked"),

  /** The same as {@link #STRANGER}, too large for a link. */
  FRAGMENTS("packets_in_fragments");

  /** The traffic class of what a switch has marked. */
  static final int CONGESTION = 3;

  private static final int BTH_BYTES = 12;
  private static final int ICRC_BYTES = 4;
  private static final int SEND_ONLY = 0x04;
  private static final int UNRELIABLE_SEND_ONLY = 0x24;
  private static final int DATAGRAM_SEND_ONLY = 0x64;
  private static final int NOTIFY = 0x81;
  private static final int NO_KIND = 0x1f;
  private static final int DEFAULT_PARTITION = 0xffff;

  /** Of a number that a device gives to none: it counts from 2 on. */
  private static final int NO_QUEUE_PAIR = 0;

  private static final int MAD_BYTES = 256;
  private static final int DETH_BYTES = 8;
  private static final int NOTIFICATION_BYTES = 16;

  private final String counter;

  FloodPacket(String counter) {
    this.counter = counter;
  }

  /** The device's counter that tells of it. */
  public String counter() {
    return counter;
  }

  /** Whether it is for nobody besides, and so counts as {@link #STRANGER} too. */
  public boolean isForNobody() {
    return this == MARKED || this == FRAGMENTS;
  }

  /**
   * Its bytes behind the UDP header.
   *
   * @param linkMtuBytes which packets in fragments exceed
   */
  ByteBuffer bytes(int linkMtuBytes) {
    return switch (this) {
      case EMPTY -> ByteBuffer.allocate(0);
      case SHORT -> packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 0).limit(BTH_BYTES - 1);
      case ODD -> packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 7);
      case PADDED -> packet(SEND_ONLY, 0x30, DEFAULT_PARTITION, NO_QUEUE_PAIR, 0);
      case UNKNOWN -> packet(NO_KIND, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 64);
      case UNRELIABLE -> packet(UNRELIABLE_SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 64);
      case MANAGEMENT ->
          packet(DATAGRAM_SEND_ONLY, 0, DEFAULT_PARTITION, 1, DETH_BYTES + MAD_BYTES);
      case VERSION -> packet(SEND_ONLY, 0x1, DEFAULT_PARTITION, NO_QUEUE_PAIR, 64);
      case PARTITION -> packet(SEND_ONLY, 0, 0x8123, NO_QUEUE_PAIR, 64);
      case STRANGER, MARKED -> packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 64);
      case NOTIFICATION -> packet(NOTIFY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, NOTIFICATION_BYTES);
      case FRAGMENTS ->
          packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, linkMtuBytes + 400 & ~3);
    };
  }

  /* opcode 8 | SE, M 2, pad 2, version 4 | partition 16 | 8 | queue pair 24 | 8 | number 24 | the rest | ICRC */
  private static ByteBuffer packet(
      int opcode, int padAndVersion, int partition, int queuePair, int restBytes) {
    ByteBuffer packet = ByteBuffer.allocate(BTH_BYTES + restBytes + ICRC_BYTES);
    packet.putInt(0, opcode << 24 | padAndVersion << 16 | partition).putInt(4, queuePair);
    return packet;
  }
}
