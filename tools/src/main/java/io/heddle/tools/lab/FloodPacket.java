package io.heddle.tools.lab;

import java.nio.ByteBuffer;

/** Malformed or hostile packets to port 4791, each with the soft device's counter for it. */
public enum FloodPacket {
  /** Empty datagram. */
  EMPTY("dropped_too_short"),

  /** Shorter than headers and checksum. */
  SHORT("dropped_too_short"),

  /** Length that is not a multiple of four bytes. */
  ODD("dropped_bad_length"),

  /** More padding than payload. */
  PADDED("dropped_bad_length"),

  /** Unknown opcode. */
  UNKNOWN("dropped_unknown_opcode"),

  /** Opcode of the unreliable connection service. */
  UNRELIABLE("dropped_unknown_opcode"),

  /** Management datagram for queue pair 1. */
  MANAGEMENT("dropped_management"),

  /** Unknown transport version. */
  VERSION("dropped_bad_header"),

  /** Packet of another partition. */
  PARTITION("dropped_wrong_partition"),

  /** Packet for a queue pair that doesn't exist. */
  UNKNOWN_QUEUE_PAIR("dropped_unknown_queue_pair"),

  /** Congestion notification packet. */
  NOTIFICATION("congestion_notifications"),

  /** Like {@link #UNKNOWN_QUEUE_PAIR}, ECN-marked by a switch. */
  MARKED("packets_marked"),

  /** Like {@link #UNKNOWN_QUEUE_PAIR}, larger than the link's MTU. */
  FRAGMENTS("packets_in_fragments");

  /** ECN bits of the traffic class: congestion experienced. */
  static final int CONGESTION = 3;

  private static final int BTH_BYTES = 12;
  private static final int ICRC_BYTES = 4;
  private static final int SEND_ONLY = 0x04;
  private static final int UNRELIABLE_SEND_ONLY = 0x24;
  private static final int DATAGRAM_SEND_ONLY = 0x64;
  private static final int NOTIFY = 0x81;
  private static final int NO_KIND = 0x1f;
  private static final int DEFAULT_PARTITION = 0xffff;

  /** Queue pair number that no device assigns, since they count from 2. */
  private static final int NO_QUEUE_PAIR = 0;

  private static final int MAD_BYTES = 256;
  private static final int DETH_BYTES = 8;
  private static final int NOTIFICATION_BYTES = 16;

  private final String counter;

  FloodPacket(String counter) {
    this.counter = counter;
  }

  /** Returns the device's counter for it. */
  public String counter() {
    return counter;
  }

  /**
   * Returns whether it is addressed to an unknown queue pair too, and so also counts as {@link
   * #UNKNOWN_QUEUE_PAIR}.
   */
  public boolean isForUnknownQueuePair() {
    return this == MARKED || this == FRAGMENTS;
  }

  /**
   * Returns its bytes after the UDP header.
   *
   * @param linkMtuBytes MTU of the link, exceeded by {@link #FRAGMENTS}
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
      case UNKNOWN_QUEUE_PAIR, MARKED -> packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, 64);
      case NOTIFICATION -> packet(NOTIFY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, NOTIFICATION_BYTES);
      case FRAGMENTS ->
          packet(SEND_ONLY, 0, DEFAULT_PARTITION, NO_QUEUE_PAIR, linkMtuBytes + 400 & ~3);
    };
  }

  /* opcode 8 | SE, M 2, pad 2, version 4 | partition 16 | 8 | queue pair 24 | 8 | number 24 | the
  rest | ICRC */
  private static ByteBuffer packet(
      int opcode, int padAndVersion, int partition, int queuePair, int restBytes) {
    ByteBuffer packet = ByteBuffer.allocate(BTH_BYTES + restBytes + ICRC_BYTES);
    packet.putInt(0, opcode << 24 | padAndVersion << 16 | partition).putInt(4, queuePair);
    return packet;
  }
}
