package io.heddle.bridge.pgm;

import org.jspecify.annotations.Nullable;

/** Type of a PGM packet (RFC 3208, section 8), with its sender and its layout. */
enum PgmType {
  SPM(0x00, true, 12, 1, 0),
  POLL(0x01, true, 8, 1, 12),
  POLR(0x02, false, 8, 0, 0),
  ODATA(0x04, true, 8, 0, 0),
  RDATA(0x05, true, 8, 0, 0),
  NAK(0x08, false, 4, 2, 0),
  NNAK(0x09, false, 4, 2, 0),
  NCF(0x0a, true, 4, 2, 0),
  SPMR(0x0c, false, 0, 0, 0),
  ACK(0x0d, false, 8, 0, 0);

  private static final @Nullable PgmType[] BY_CODE = new PgmType[16];

  static {
    for (PgmType each : values()) {
      BY_CODE[each.code] = each;
    }
  }

  private final int code;
  private final boolean fromSource;
  private final int front;
  private final int addresses;
  private final int behind;

  /**
   * @param fromSource whether packets of this type come from the session's source, or from a
   *     repairer or router on behalf of the source
   * @param front bytes between the common header and the first address
   * @param addresses number of network-layer addresses
   * @param behind bytes between the last address and the options
   */
  PgmType(int code, boolean fromSource, int front, int addresses, int behind) {
    this.code = code;
    this.fromSource = fromSource;
    this.front = front;
    this.addresses = addresses;
    this.behind = behind;
  }

  /**
   * Returns the type for the value of a type field; null for a version other than 0, and for a type
   * that isn't in RFC 3208.
   */
  static @Nullable PgmType of(int code) {
    return code < BY_CODE.length ? BY_CODE[code] : null;
  }

  int code() {
    return code;
  }

  boolean isFromSource() {
    return fromSource;
  }

  /**
   * Returns whether packets of this type contain data, original or repair, with consecutive
   * numbers.
   */
  boolean isData() {
    return this == ODATA || this == RDATA;
  }

  int frontBytes() {
    return front;
  }

  int addresses() {
    return addresses;
  }

  int bytesBehind() {
    return behind;
  }
}
