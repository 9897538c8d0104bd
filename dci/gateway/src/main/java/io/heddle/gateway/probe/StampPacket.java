package io.heddle.gateway.probe;

import java.nio.ByteBuffer;

/**
 * Codec of STAMP test packets without authentication (RFC 8762, 4.2.1 and 4.3.1), big-endian.
 *
 * <pre>
 * sender     sequence 4 | timestamp 8 | error estimate 2 | zero 30
 * reflector  sequence 4 | timestamp 8 | error estimate 2 | zero 2 | received 8
 *            | sender's sequence 4 | timestamp 8 | error estimate 2 | zero 2 | hop limit 1 | zero 3
 * </pre>
 */
final class StampPacket {
  static final int BYTES = 44;

  /** UDP port of reflectors (RFC 8762, 4.1). */
  static final int PORT = 862;

  private static final int TIMESTAMP_AT = 4;
  private static final int ERROR_AT = 12;
  private static final int RECEIVED_AT = 16;
  private static final int SENDER_AT = 24;
  private static final int SENDER_BYTES = 14;
  private static final int HOP_LIMIT_AT = 40;

  /**
   * Error estimate (RFC 4656, 4.1.2): clock not synchronised, NTP format, error up to a second, as
   * 1 × 2^-32 × 2^32 s.
   */
  private static final short ERROR = 0x2001;

  private static final long NTP_EPOCH_S = 2_208_988_800L;

  private StampPacket() {}

  /**
   * Returns an NTP timestamp: 32 bits of seconds since 1900, 32 bits of fractions (RFC 5905, 6).
   */
  static long timestamp(long epochSeconds, int nanos) {
    return epochSeconds + NTP_EPOCH_S << 32 | ((long) nanos << 32) / 1_000_000_000L;
  }

  /** Returns the nanoseconds between two timestamps that are at most about a second apart. */
  static long nanosBetween(long earlier, long later) {
    long difference = later - earlier;
    return (difference >> 32) * 1_000_000_000L
        + ((difference & 0xffff_ffffL) * 1_000_000_000L >>> 32);
  }

  static byte[] probe(int sequence, long timestamp) {
    return ByteBuffer.allocate(BYTES).putInt(sequence).putLong(timestamp).putShort(ERROR).array();
  }

  /**
   * Returns a stateless reflector's answer, with the sender's sequence number.
   *
   * @param probe the received probe, at least {@link #BYTES} long
   */
  static byte[] answer(ByteBuffer probe, long received, long timestamp, int hopLimit) {
    ByteBuffer answer = ByteBuffer.allocate(BYTES);
    answer.putInt(0, probe.getInt(0)).putLong(TIMESTAMP_AT, timestamp).putShort(ERROR_AT, ERROR);
    answer.putLong(RECEIVED_AT, received);
    for (int i = 0; i < SENDER_BYTES; i++) {
      answer.put(SENDER_AT + i, probe.get(i));
    }
    return answer.put(HOP_LIMIT_AT, (byte) hopLimit).array();
  }

  /** Returns the sequence number of the answered probe. */
  static int sequence(ByteBuffer answer) {
    return answer.getInt(SENDER_AT);
  }

  /** Returns the nanoseconds from the reflector's receive to its answer. */
  static long reflectorNs(ByteBuffer answer) {
    return nanosBetween(answer.getLong(RECEIVED_AT), answer.getLong(TIMESTAMP_AT));
  }
}
