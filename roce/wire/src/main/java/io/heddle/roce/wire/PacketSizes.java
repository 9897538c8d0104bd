package io.heddle.roce.wire;

import io.heddle.verbs.PathMtu;

/**
 * Payload sizes of a queue pair's full packets. They follow the path MTU, except for RDMA WRITEs
 * between soft devices, which may agree on more than RoCEv2's 4096 bytes.
 *
 * @param mtuBytes payload of SENDs and READ responses, and of all packets to or from a standard
 *     peer
 * @param sentWriteBytes payload of WRITEs sent
 * @param takenWriteBytes largest payload of WRITEs received
 */
public record PacketSizes(int mtuBytes, int sentWriteBytes, int takenWriteBytes) {
  /** Unit of the sizes: the C functions process payloads in blocks of this length. */
  public static final int BLOCK_BYTES = 256;

  /**
   * Largest size. It fits a link MTU of 9216, the largest in common use, and a train still has
   * seven packets of this size.
   */
  public static final int MOST_BYTES = 8960;

  /**
   * Largest payload of a segmented send. A train longer than a device's gso_max_size (65536,
   * Ethernet, IP and UDP headers included) is cut in software before it leaves. At MTU 1024 this
   * cut cost a factor of 3.5 in throughput.
   */
  public static final int TRAIN_BYTES = 65_400;

  /** Largest number of segments of a send on kernels before 6.9. */
  public static final int TRAIN_PACKETS = 64;

  private static final int IPV6_AND_UDP_BYTES = 48;
  /* Largest length of a WRITE packet's headers and ICRC. */
  private static final int AROUND_BYTES =
      PacketFormat.WRITE_ONLY_BYTES + PacketFormat.IMMEDIATE_BYTES;

  /** Length of the longest packet, from BTH to ICRC. */
  public static final int LONGEST_PACKET_BYTES = MOST_BYTES + AROUND_BYTES;

  /** Returns the WRITE payload for a link MTU, at least a block. */
  public static int onLink(int linkMtuBytes) {
    int room = linkMtuBytes - IPV6_AND_UDP_BYTES - AROUND_BYTES;
    return Math.clamp(room / BLOCK_BYTES * BLOCK_BYTES, BLOCK_BYTES, MOST_BYTES);
  }

  /** Returns whether this size is valid. */
  public static boolean isSize(int writeBytes) {
    return writeBytes >= BLOCK_BYTES && writeBytes % BLOCK_BYTES == 0;
  }

  /** Returns the sizes for a standard peer: the path MTU for all packets. */
  public static PacketSizes standard(PathMtu mtu) {
    return new PacketSizes(mtu.bytes(), mtu.bytes(), mtu.bytes());
  }

  /**
   * Returns the sizes between two soft devices. If the requested path MTU is 4096 and both ends
   * support more, WRITEs get the smaller of the two ends' sizes. Otherwise all packets get the
   * requested path MTU: a request below 4096 may reflect a narrow hop.
   *
   * @param own size that the local links support
   * @param peers size that the peer's links support
   * @param onRoute size that the path supports, as far as the kernel knows; it reduces only the
   *     size of sent WRITEs, and the peer isn't notified
   */
  public static PacketSizes agreed(PathMtu mtu, int own, int peers, int onRoute) {
    int both = Math.min(own, peers);
    if (mtu != PathMtu.MTU_4096 || both <= mtu.bytes()) {
      return standard(mtu);
    }
    return new PacketSizes(mtu.bytes(), Math.max(mtu.bytes(), Math.min(both, onRoute)), both);
  }

  /** Returns these sizes reduced to the path MTU for sending. */
  public PacketSizes narrow() {
    return new PacketSizes(mtuBytes, mtuBytes, takenWriteBytes);
  }

  /** Returns the length of the longest packet within the path MTU, from BTH to ICRC. */
  public int narrowPacketBytes() {
    return mtuBytes + AROUND_BYTES;
  }

  /** Returns whether WRITE packets exceed the path MTU. */
  public boolean isWide() {
    return sentWriteBytes > mtuBytes;
  }

  /** Returns the number of full WRITE packets in a train. */
  public int packetsOfTrain() {
    return Math.min(TRAIN_PACKETS, TRAIN_BYTES / (sentWriteBytes + PacketFormat.WRITE_ONLY_BYTES));
  }
}
