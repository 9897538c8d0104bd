package io.heddle.bgp.bfd;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * BFD control packet without authentication (RFC 5880 §4.1).
 *
 * <pre>
 * version 3 bits = 1, diagnostic 5 | state 2 bits, P F C A D M | multiplier 1 | length 1
 * my discriminator 4 | your discriminator 4
 * desired min TX 4, µs | required min RX 4, µs | required min echo RX 4, µs
 * </pre>
 */
record BfdPacket(
    int diagnostic,
    BfdState state,
    boolean isPoll,
    boolean isFinal,
    int multiplier,
    int myDiscriminator,
    int yourDiscriminator,
    long desiredTxMicros,
    long requiredRxMicros) {
  static final int BYTES = 24;
  private static final int VERSION = 1;
  private static final int POLL = 0x20;
  private static final int FINAL = 0x10;
  private static final int AUTHENTICATED = 0x04;
  private static final int MULTIPOINT = 0x01;

  static final int NO_DIAGNOSTIC = 0;
  static final int TIME_EXPIRED = 1;
  static final int NEIGHBOR_DOWN = 3;
  static final int ADMINISTRATIVELY_DOWN = 7;

  /** Returns the decoded packet; null if RFC 5880 §6.8.6 discards it before the session look-up. */
  static @Nullable BfdPacket decode(byte[] bytes, int length) {
    if (length < BYTES) {
      return null;
    }
    ByteBuffer packet = ByteBuffer.wrap(bytes, 0, length);
    int first = packet.get(0) & 0xff;
    int flags = packet.get(1) & 0xff;
    int multiplier = packet.get(2) & 0xff;
    int said = packet.get(3) & 0xff;
    BfdPacket read =
        new BfdPacket(
            first & 0x1f,
            BfdState.values()[flags >>> 6],
            (flags & POLL) != 0,
            (flags & FINAL) != 0,
            multiplier,
            packet.getInt(4),
            packet.getInt(8),
            packet.getInt(12) & 0xffff_ffffL,
            packet.getInt(16) & 0xffff_ffffL);
    boolean needsYours =
        read.state != BfdState.DOWN
            && read.state != BfdState.ADMIN_DOWN
            && read.yourDiscriminator == 0;
    boolean unusable = (flags & (AUTHENTICATED | MULTIPOINT)) != 0;
    return first >>> 5 != VERSION
            || said < BYTES
            || said > length
            || multiplier == 0
            || read.myDiscriminator == 0
            || needsYours
            || unusable
        ? null
        : read;
  }

  byte[] encode() {
    int flags = state.ordinal() << 6 | (isPoll ? POLL : 0) | (isFinal ? FINAL : 0);
    return ByteBuffer.allocate(BYTES)
        .put((byte) (VERSION << 5 | diagnostic))
        .put((byte) flags)
        .put((byte) multiplier)
        .put((byte) BYTES)
        .putInt(myDiscriminator)
        .putInt(yourDiscriminator)
        .putInt((int) desiredTxMicros)
        .putInt((int) requiredRxMicros)
        .putInt(0)
        .array();
  }
}
