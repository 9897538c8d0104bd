package io.heddle.roce.wire;

import java.util.zip.CRC32;

/**
 * Contribution of the masked IP and UDP headers to the invariant CRC, for any addresses, IPv4 or
 * IPv6. It serves receivers with many senders; for a single flow use {@link FlowChecksum}.
 *
 * <p>The invariant CRC of a packet is the value from this class XOR a CRC-32 over {@code length}
 * bytes: from the BTH to the end of the pad, with the congestion marks as zeros. A packet with new
 * addresses thus needs no second pass over its bytes.
 *
 * <p>A receiver on a UDP socket doesn't see two fields of the IPv4 header: identification and the
 * don't-fragment bit. The CRC is affine, so {@link #solve} computes both. One thread at a time.
 * Nothing is allocated per packet; the first packet of each length fills table entries.
 */
public final class HeaderChecksum {
  /** Flags and fragment offset with don't-fragment set. */
  public static final int DO_NOT_FRAGMENT = 0x4000;

  /** Result of {@link #solve} where no header makes the CRC right. */
  public static final int NO_SOLUTION = -1;

  /**
   * Largest number of datagrams of one segmented send on kernels before 6.9 (UDP_MAX_SEGMENTS in
   * linux/udp.h).
   */
  public static final int MOST_SEGMENTS = 64;

  private static final int MOST_BYTES = 65536;
  private static final int IPV4_BYTES = 36;
  private static final int IPV6_BYTES = 56;

  /* Length of the headers after the word of identification and flags: the rest of IPv4, and UDP. */
  private static final int BEHIND_WORD_BYTES = IPV4_BYTES - 8 - 8;
  private static final int MASKED_BYTE = 4;

  private final CRC32 crc = new CRC32();
  private final byte[] ipv4 = new byte[IPV4_BYTES];
  private final byte[] ipv6 = new byte[IPV6_BYTES];
  /*
   * Tables indexed by covered length / 4. In shifts, 0 means not computed yet: a power of x is
   * never 0.
   */
  private final int[] shifts = new int[MOST_BYTES / 4];
  private final int[] marks = new int[MOST_BYTES / 4];
  private final int[] unshifts = new int[MOST_BYTES / 4];
  private final int[][] identities = new int[MOST_BYTES / 4][];

  public HeaderChecksum() {
    java.util.Arrays.fill(ipv4, 0, 8, (byte) 0xff);
    java.util.Arrays.fill(ipv6, 0, 8, (byte) 0xff);
    ipv4[8] = 0x45;
    ipv4[9] = (byte) 0xff; /* type of service */
    ipv4[16] = (byte) 0xff; /* time to live */
    ipv4[17] = 17;
    ipv4[18] = (byte) 0xff; /* header checksum */
    ipv4[19] = (byte) 0xff;
    ipv4[34] = (byte) 0xff; /* UDP checksum */
    ipv4[35] = (byte) 0xff;
    ipv6[8] = 0x6f; /* version, then traffic class and flow label as ones */
    ipv6[9] = (byte) 0xff;
    ipv6[10] = (byte) 0xff;
    ipv6[11] = (byte) 0xff;
    ipv6[14] = 17;
    ipv6[15] = (byte) 0xff; /* hop limit */
    ipv6[54] = (byte) 0xff;
    ipv6[55] = (byte) 0xff;
  }

  /**
   * Returns the contribution for IPv4 with identification 0 and don't-fragment, as sent by an
   * unconnected socket with path MTU discovery.
   *
   * @param length bytes from the BTH to the end of the pad, a multiple of four, 8 or more
   */
  public int ofIpv4(int source, int sourcePort, int destination, int destinationPort, int length) {
    int udpLength = 8 + length + PacketFormat.ICRC_BYTES;
    put(ipv4, 10, 20 + udpLength);
    put(ipv4, 14, DO_NOT_FRAGMENT);
    put(ipv4, 20, source >>> 16);
    put(ipv4, 22, source);
    put(ipv4, 24, destination >>> 16);
    put(ipv4, 26, destination);
    putUdp(ipv4, 28, sourcePort, destinationPort, udpLength);
    crc.reset();
    crc.update(ipv4, 0, IPV4_BYTES);
    return shifted((int) crc.getValue(), length);
  }

  /** Returns the contribution for IPv6; {@code length} as in {@link #ofIpv4}. */
  public int ofIpv6(
      long sourceHigh,
      long sourceLow,
      int sourcePort,
      long destinationHigh,
      long destinationLow,
      int destinationPort,
      int length) {
    int udpLength = 8 + length + PacketFormat.ICRC_BYTES;
    put(ipv6, 12, udpLength);
    putLong(ipv6, 16, sourceHigh);
    putLong(ipv6, 24, sourceLow);
    putLong(ipv6, 32, destinationHigh);
    putLong(ipv6, 40, destinationLow);
    putUdp(ipv6, 48, sourcePort, destinationPort, udpLength);
    crc.reset();
    crc.update(ipv6, 0, IPV6_BYTES);
    return shifted((int) crc.getValue(), length);
  }

  private static void putUdp(byte[] at, int offset, int source, int destination, int length) {
    put(at, offset, source);
    put(at, offset + 2, destination);
    put(at, offset + 4, length);
  }

  private static void put(byte[] at, int offset, int value) {
    at[offset] = (byte) (value >>> 8);
    at[offset + 1] = (byte) value;
  }

  private static void putLong(byte[] at, int offset, long value) {
    for (int i = 0; i < Long.BYTES; i++) {
      at[offset + i] = (byte) (value >>> 56 - 8 * i);
    }
  }

  private int shifted(int front, int length) {
    int row = length >>> 2;
    if (shifts[row] == 0) {
      shifts[row] = CrcPolynomial.powerOfX8(length);
      marks[row] =
          CrcPolynomial.multiply(
              CrcPolynomial.powerOfX8(length - MASKED_BYTE - 1), CrcPolynomial.ONES);
      unshifts[row] = CrcPolynomial.inverseOfX8(length + BEHIND_WORD_BYTES + Integer.BYTES);
    }
    return CrcPolynomial.multiply(shifts[row], front) ^ marks[row];
  }

  /**
   * Returns an IPv4 packet's CRC with this identification XOR its CRC with identification 0.
   *
   * @param identification 0 to {@link #MOST_SEGMENTS} − 1, as the kernel numbers the datagrams of a
   *     segmented send
   * @param length as in {@link #ofIpv4}
   */
  public int ofIdentification(int identification, int length) {
    if (identification == 0) {
      return 0;
    }
    int[] row = identities[length >>> 2];
    if (row == null) {
      row = new int[MOST_SEGMENTS];
      int shift = CrcPolynomial.powerOfX8(length + BEHIND_WORD_BYTES + Integer.BYTES);
      for (int i = 1; i < MOST_SEGMENTS; i++) {
        row[i] = CrcPolynomial.multiply(shift, i << 8);
      }
      identities[length >>> 2] = row;
    }
    return row[identification];
  }

  /**
   * Computes an IPv4 packet's word of identification, flags and fragment offset.
   *
   * @param difference packet's CRC XOR its CRC with the word {@link #DO_NOT_FRAGMENT}; not 0
   * @param length as in the earlier call of {@link #ofIpv4}
   * @return identification in the upper half, 0 or {@link #DO_NOT_FRAGMENT} in the lower, as an
   *     unsigned {@code int} in a {@code long}; {@link #NO_SOLUTION} where the packet is damaged
   */
  public long solve(int difference, int length) {
    /* The four bytes of the word, the first one in the lowest bits. */
    int bytes = CrcPolynomial.multiply(unshifts[length >>> 2], difference);
    int word = Integer.reverseBytes(bytes) ^ DO_NOT_FRAGMENT;
    return (word & 0xffff & ~DO_NOT_FRAGMENT) == 0 ? word & 0xffff_ffffL : NO_SOLUTION;
  }
}
