package io.heddle.roce.wire;

import io.heddle.verbs.PathMtu;

/**
 * How much payload full packets of a queue pair have: by the path MTU, but in RDMA WRITEs from one
 * soft device to another, which may have agreed on more than the 4096 bytes that RoCEv2 stops at.
 *
 * @param mtuBytes of SENDs and responses to READs, and of everything that a standard peer sends or
 *     gets
 * @param sentWriteBytes of WRITEs that are sent
 * @param takenWriteBytes of WRITEs that are taken, at most
 */
public record PacketSizes(int mtuBytes, int sentWriteBytes, int takenWriteBytes) {
  /** Sizes are multiples of it: what is made and taken in rows by C comes in such blocks. */
  public static final int BLOCK_BYTES = 256;

  /** For links of 9216 bytes, the largest that are usual; a train still has seven packets. */
  public static final int MOST_BYTES = 8960;

  /**
   * Largest payload of a segmented send. A train that is longer than a device's gso_max_size
   * (65536, Ethernet, IP and UDP headers included) is cut in software before it leaves: at MTU 1024
   * that cost a factor of 3.5.
   */
  public static final int TRAIN_BYTES = 65_400;

  /** Segments of a send that kernels before 6.x take. */
  public static final int TRAIN_PACKETS = 64;

  private static final int IPV6_AND_UDP_BYTES = 48;
  /* The most that a packet of a WRITE has besides its payload. */
  private static final int AROUND_BYTES =
      PacketFormat.WRITE_ONLY_BYTES + PacketFormat.IMMEDIATE_BYTES;

  /** The longest packet, from BTH to ICRC. */
  public static final int LONGEST_PACKET_BYTES = MOST_BYTES + AROUND_BYTES;

  /** What WRITEs carry over a link of this MTU, at least a block. */
  public static int onLink(int linkMtuBytes) {
    int room = linkMtuBytes - IPV6_AND_UDP_BYTES - AROUND_BYTES;
    return Math.clamp(room / BLOCK_BYTES * BLOCK_BYTES, BLOCK_BYTES, MOST_BYTES);
  }

  /** Whether a peer may name this size. */
  public static boolean isSize(int writeBytes) {
    return writeBytes >= BLOCK_BYTES && writeBytes % BLOCK_BYTES == 0;
  }

  /** Towards a standard device. */
  public static PacketSizes standard(PathMtu mtu) {
    return new PacketSizes(mtu.bytes(), mtu.bytes(), mtu.bytes());
  }

  /**
   * Between two soft devices: what both their links take, where that is more than a path MTU can
   * be. Who asks for a smaller path MTU knows of something in between, and gets it.
   *
   * @param own what the local links take
   * @param peers what the peer's do
   * @param onRoute what the way to the peer takes, as far as the kernel knows; less is sent then,
   *     but the peer isn't told
   */
  public static PacketSizes agreed(PathMtu mtu, int own, int peers, int onRoute) {
    int both = Math.min(own, peers);
    if (mtu != PathMtu.MTU_4096 || both <= mtu.bytes()) {
      return standard(mtu);
    }
    return new PacketSizes(mtu.bytes(), Math.max(mtu.bytes(), Math.min(both, onRoute)), both);
  }

  /** The same of a way that takes no more than the path MTU. */
  public PacketSizes narrow() {
    return new PacketSizes(mtuBytes, mtuBytes, takenWriteBytes);
  }

  /** Bytes of the longest packet, from BTH to ICRC, that the path MTU allows. */
  public int narrowPacketBytes() {
    return mtuBytes + AROUND_BYTES;
  }

  /** Bytes of the longest packet of WRITEs that are sent. */
  public int widePacketBytes() {
    return sentWriteBytes + AROUND_BYTES;
  }

  /** Whether WRITEs that are sent are larger than standard ones. */
  public boolean isWide() {
    return sentWriteBytes > mtuBytes;
  }

  /** Full packets of a write that a train of packets holds. */
  public int packetsOfTrain() {
    return Math.min(TRAIN_PACKETS, TRAIN_BYTES / (sentWriteBytes + PacketFormat.WRITE_ONLY_BYTES));
  }
}
