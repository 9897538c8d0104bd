package io.heddle.verbs;

/** Payload bytes of a full packet (ibv_mtu: the enumeration 1 to 5). */
public enum PathMtu {
  MTU_256(1, 256),
  MTU_512(2, 512),
  MTU_1024(3, 1024),
  MTU_2048(4, 2048),
  MTU_4096(5, 4096);

  private final int code;
  private final int bytes;

  PathMtu(int code, int bytes) {
    this.code = code;
    this.bytes = bytes;
  }

  /** Returns the number that ibv_mtu and the wire use. */
  public int code() {
    return code;
  }

  public int bytes() {
    return bytes;
  }

  public PathMtu min(PathMtu other) {
    return other.code < code ? other : this;
  }

  /**
   * @throws IllegalArgumentException for a code outside 1 to 5
   */
  public static PathMtu fromCode(int code) {
    for (PathMtu mtu : values()) {
      if (mtu.code == code) {
        return mtu;
      }
    }
    throw new IllegalArgumentException("path MTU code " + code + " is not in 1 to 5");
  }

  /**
   * Returns the largest path MTU whose packets, headers included, fit this link MTU. Header sizes
   * are rxe's.
   */
  public static PathMtu fittingLink(int linkMtuBytes) {
    /* IPv6 40, UDP 8, BTH 12, the longest extended headers 28 + 4, ICRC 4. */
    int payload = linkMtuBytes - 96;
    PathMtu best = MTU_256;
    for (PathMtu mtu : values()) {
      if (mtu.bytes <= payload) {
        best = mtu;
      }
    }
    return best;
  }
}
