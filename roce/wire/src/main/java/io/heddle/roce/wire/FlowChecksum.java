package io.heddle.roce.wire;

import io.heddle.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * Calculator of the invariant CRC for packets of one direction between two addresses and ports,
 * with one CRC call per packet.
 *
 * <p>The CRC covers eight bytes of ones, the masked IPv6 and UDP headers and then the transport
 * packet with BTH byte 4 as ones. The bytes before the transport packet depend only on the flow and
 * the length, so their shifted contribution is cached by length: {@code crc(A ‖ B) = shift(crc(A),
 * |B|) ^ crc(B)}. The CRC is affine, so the contribution of the ones in BTH byte 4 is cached too,
 * and the byte can stay zero. A second cache holds the contribution for packets with the data mark.
 * Callers hold the progress lock.
 */
public final class FlowChecksum {
  private static final int PSEUDO_BYTES = 56;
  private static final int MASKED_BYTE = PacketFormat.MARK_OFFSET;

  private final byte[] pseudo = new byte[PSEUDO_BYTES];
  private final CRC32 crc = new CRC32();
  /*
   * Contributions indexed by covered length ÷ 4, since packets are padded to four bytes; 0 if not
   * computed yet. The array grows to the largest packet.
   */
  private int[] contributions = new int[64];
  /* Contributions for packets with the data mark, indexed by covered length ÷ 4. */
  private int[] markedContributions = {};
  private int destinationPort = PacketFormat.ROCE_PORT;

  public void reset(Gid source, int sourcePort, Gid destination, int portOfDestination) {
    java.util.Arrays.fill(pseudo, (byte) 0xff);
    pseudo[8] = 0x6f;
    pseudo[14] = 17;
    System.arraycopy(source.toBytes(), 0, pseudo, 16, Gid.BYTES);
    System.arraycopy(destination.toBytes(), 0, pseudo, 32, Gid.BYTES);
    destinationPort = portOfDestination;
    setSourcePort(sourcePort);
  }

  public void setSourcePort(int sourcePort) {
    putShort(48, sourcePort);
    putShort(50, destinationPort);
    java.util.Arrays.fill(contributions, 0);
    java.util.Arrays.fill(markedContributions, 0);
  }

  private void putShort(int at, int value) {
    pseudo[at] = (byte) (value >>> 8);
    pseudo[at + 1] = (byte) value;
  }

  /**
   * Returns the invariant CRC, for little-endian storage. It moves the buffer's position and limit.
   *
   * @param offset offset of the BTH, whose byte 4 must be zero
   * @param length number of bytes from the BTH to the end of the pad
   */
  public int of(ByteBuffer buffer, int offset, int length) {
    int front = contribution(length); /* computed first, since it may use the same CRC register */
    crc.reset();
    crc.update(buffer.limit(offset + length).position(offset));
    return front ^ (int) crc.getValue();
  }

  /**
   * Returns a value that depends only on the flow and the length. The invariant CRC is this value
   * XOR the CRC of the packet's own {@code length} bytes.
   */
  public int contribution(int length) {
    int index = length >>> 2;
    if (index >= contributions.length) {
      contributions =
          java.util.Arrays.copyOf(contributions, Math.max(index + 1, contributions.length * 2));
    }
    int value = contributions[index];
    if (value == 0) {
      value = compute(length);
      contributions[index] = value;
    }
    return value;
  }

  /**
   * Returns the value of {@link #contribution} for a packet whose BTH byte 4 is {@link
   * PacketFormat#DATA_MARK}, not zero.
   */
  public int markedContribution(int length) {
    int index = length >>> 2;
    if (index >= markedContributions.length) {
      int newLength = Math.max(index + 1, markedContributions.length * 2);
      markedContributions = java.util.Arrays.copyOf(markedContributions, newLength);
    }
    int value = markedContributions[index];
    if (value == 0) {
      value =
          contribution(length)
              ^ CrcPolynomial.multiply(
                  CrcPolynomial.powerOfX8(length - MASKED_BYTE - 1), CrcPolynomial.DATA_MARK);
      markedContributions[index] = value;
    }
    return value;
  }

  private int compute(int length) {
    int udpLength = 8 + length + PacketFormat.ICRC_BYTES;
    putShort(12, udpLength);
    putShort(52, udpLength);
    crc.reset();
    crc.update(pseudo, 0, PSEUDO_BYTES);
    return CrcPolynomial.multiply(CrcPolynomial.powerOfX8(length), (int) crc.getValue())
        ^ CrcPolynomial.multiply(
            CrcPolynomial.powerOfX8(length - MASKED_BYTE - 1), CrcPolynomial.ONES);
  }
}
