package io.heddle.tools.lab;

import java.nio.ByteBuffer;

/**
 * Kinds of malformed or hostile packets to port 4791, each with the name of the soft device's
 * counter that counts it.
 */
public enum FloodPacket {
  /** Empty datagram. */
  EMPTY("dropped_too_short"),

  /** Packet shorter than a transport header. */
  SHORT("dropped_too_short"),

  /** Packet whose length isn't a multiple of four bytes. */
  ODD("dropped_bad_length"),

  /** Packet that has more padding than payload. */
  PADDED("dropped_bad_length"),

  /** Packet with an unknown opcode. */
  UNKNOWN("dropped_unknown_opcode"),

  /** Packet with an opcode of the unreliable connection service. */
  UNRELIABLE("dropped_unknown_opcode"),

  /** Management datagram for queue pair 1. */
  MANAGEMENT("dropped_management"),

  /** Packet with an unknown transport version. */
  VERSION("dropped_bad_header"),

  /** Packet of another partition. */
  PARTITION("dropped_wrong_partition"),

  /** Packet for a queue pair that doesn't exist. */
  UNKNOWN_QUEUE_PAIR("dropped_unknown_queue_pair"),

  /** Congestion notification packet. */
  NOTIFICATION("congestion_notifications"),

  /** Packet for a queue pair that doesn't exist, with the ECN mark of a congested switch. */
  MARKED("packets_marked"),

  /** Packet for a queue pair that doesn't exist, larger than the link's MTU. */
  FRAGMENTS("packets_in_fragments");

  /** Value of the traffic class's two ECN bits: congestion experienced. */
  static final int CONGESTION = 3;

  private static final int BTH_BYTES = 12;
  private static final int ICRC_BYTES = 4;
  private static final int SEND_ONLY = 0x04;
  private static final int UNRELIABLE_SEND_ONLY = 0x24;
  private static final int DATAGRAM_SEND_ONLY = 0x64;
  private static final int NOTIFY = 0x81;
  private static final int NO_KIND = 0x1f;
  private static final int DEFAULT_PARTITION = 0xffff;

  /** Queue pair number that no device assigns, since numbers count from 2. */
  private static final int NO_QUEUE_PAIR = 0;

  private static final int MAD_BYTES = 256;
  private static final int DETH_BYTES = 8;
  private static final int NOTIFICATION_BYTES = 16;

  private final String counter;

  FloodPacket(String counter) {
    this.counter = counter;
  }

  /** Returns the name of the device's counter that counts this packet. */
  public String counter() {
    return counter;
  }

  /**
   * Returns whether the packet is also for an unknown queue pair and so also counts as {@link
   * #UNKNOWN_QUEUE_PAIR}.
   */
  public boolean isForUnknownQueuePair() {
    return this == MARKED || this == FRAGMENTS;
  }

  /**
   * Returns the packet's bytes after the UDP header.
   *
   * @param linkMtuBytes MTU of the link; {@link #FRAGMENTS} exceeds it
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

  /*
   * Returns a packet: opcode 8 bits | SE and M 2, pad count 2, version 4 | partition 16 | reserved
   * 8 | queue pair 24 | reserved 8 | sequence number 24 | rest | ICRC. All fields without parameter
   * are 0.
   */
  private static ByteBuffer packet(
      int opcode, int padAndVersion, int partition, int queuePair, int restBytes) {
    ByteBuffer packet = ByteBuffer.allocate(BTH_BYTES + restBytes + ICRC_BYTES);
    packet.putInt(0, opcode << 24 | padAndVersion << 16 | partition).putInt(4, queuePair);
    return packet;
  }
}
