package io.heddle.bgp.net;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Router advertisement (RFC 4861 §4.2).
 *
 * <pre>
 * type 134 1 | code 0 1 | checksum 2 | hop limit 1 | flags 1 | lifetime 2 | reachable 4 | retransmit 4
 * then options: type 1 | length 1, in units of 8 bytes | value
 * </pre>
 *
 * @param lifetimeSeconds time for which the sender is a default router; 0 if it is none
 */
public record RouterAdvertisement(int lifetimeSeconds) {
  static final int TYPE = 134;
  static final int SOLICITATION_TYPE = 133;
  static final int HOP_LIMIT = 255;
  private static final int FIXED_BYTES = 16;
  private static final int SOURCE_ADDRESS_OPTION = 1;

  /** Returns the decoded advertisement; null if RFC 4861 §6.1.2 rejects the bytes. */
  static @Nullable RouterAdvertisement decode(byte[] bytes, int length) {
    ByteBuffer packet = ByteBuffer.wrap(bytes, 0, length);
    if (length < FIXED_BYTES || (packet.get(0) & 0xff) != TYPE || packet.get(1) != 0) {
      return null;
    }
    int at = FIXED_BYTES;
    while (at < length) {
      int size = length - at < 2 ? 0 : 8 * (packet.get(at + 1) & 0xff);
      if (size == 0 || size > length - at) {
        return null;
      }
      at += size;
    }
    return new RouterAdvertisement(packet.getShort(6) & 0xffff);
  }

  /**
   * Returns the bytes of this host's advertisement. It attracts no traffic: its lifetime is 0 and
   * it has no prefix.
   */
  static byte[] encodeOwn(byte[] macAddress) {
    ByteBuffer packet = ByteBuffer.allocate(FIXED_BYTES + optionBytes(macAddress));
    packet.put((byte) TYPE).put((byte) 0).putShort((short) 0);
    packet.put((byte) 64).put((byte) 0).putShort((short) 0).putInt(0).putInt(0);
    return putOption(packet, macAddress);
  }

  /** Returns a solicitation, which makes routers advertise at once (RFC 4861 §4.1). */
  static byte[] solicitation(byte[] macAddress) {
    ByteBuffer packet = ByteBuffer.allocate(8 + optionBytes(macAddress));
    packet.put((byte) SOLICITATION_TYPE).put((byte) 0).putShort((short) 0).putInt(0);
    return putOption(packet, macAddress);
  }

  private static int optionBytes(byte[] macAddress) {
    return macAddress.length == 6 ? 8 : 0;
  }

  private static byte[] putOption(ByteBuffer packet, byte[] macAddress) {
    if (optionBytes(macAddress) > 0) {
      packet.put((byte) SOURCE_ADDRESS_OPTION).put((byte) 1).put(macAddress);
    }
    return packet.array();
  }
}
