package io.heddle.bridge.pgm;

import org.jspecify.annotations.Nullable;

/** What a PGM packet is (RFC 3208, section 8), and who says it. */
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
   * @param fromSource whether the session's source says it, or in its place a repairer or router
   * @param front bytes between the header that all have and the first address
   * @param addresses how many network-layer addresses follow
   * @param behind bytes between the last address and the options
   */
  PgmType(int code, boolean fromSource, int front, int addresses, int behind) {
    this.code = code;
    this.fromSource = fromSource;
    this.front = front;
    this.addresses = addresses;
    this.behind = behind;
  }

  /** Of a type field with its version 0; null for one that RFC 3208 doesn't know. */
  static @Nullable PgmType of(int code) {
    return code < BY_CODE.length ? BY_CODE[code] : null;
  }

  int code() {
    return code;
  }

  boolean isFromSource() {
    return fromSource;
  }

  /** Data, original or repeated: with numbers that follow each other. */
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
