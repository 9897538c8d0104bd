package io.heddle.bgp.wire;

/**
 * Kind of an address by its first bits (RFC 4291 §2.4 and §2.5), as far as BGP distinguishes it.
 */
enum AddressKind {
  UNICAST("unicast"),
  /** Address that is valid on one link only, so that it can't be routed. */
  LINK_LOCAL("link-local"),
  MULTICAST("multicast"),
  LOOPBACK("the loopback address"),
  UNSPECIFIED("the unspecified address"),
  IPV4_MAPPED("IPv4 in IPv6");

  private static final int LINK_LOCAL_TEN_BITS = 0xfe80 >>> 6;
  private static final int IPV4_LINK_LOCAL = 0xa9fe;

  private final String text;

  AddressKind(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  /**
   * Returns the kind of an IPv4 prefix (RFC 6890).
   *
   * @param low lower half of the mapped address
   * @param length length of the mapped prefix, 96 to 128
   */
  static AddressKind ofIpv4(long low, int length) {
    int address = (int) low;
    int bits = length - Prefix.MAPPED_BITS;
    if (address >>> 28 == 0xe && bits >= 4) {
      return MULTICAST;
    }
    if (address >>> 24 == 127 && bits >= 8) {
      return LOOPBACK;
    }
    if (address >>> 16 == IPV4_LINK_LOCAL && bits >= 16) {
      return LINK_LOCAL;
    }
    return address >>> 24 == 0 && bits >= 8 ? UNSPECIFIED : UNICAST;
  }

  /** Returns the kind of a prefix of either family. */
  static AddressKind of(long high, long low, int length, boolean ipv4) {
    return ipv4 ? ofIpv4(low, length) : of(high, low, length);
  }

  /**
   * Returns the kind of a prefix. A prefix that covers addresses of several kinds, such as ::/0, is
   * unicast.
   */
  static AddressKind of(long high, long low, int length) {
    int first = (int) (high >>> 48);
    if (first >>> 8 == 0xff && length >= 8) {
      return MULTICAST;
    }
    if (first >>> 6 == LINK_LOCAL_TEN_BITS && length >= 10) {
      return LINK_LOCAL;
    }
    if (high != 0 || length < 96) {
      return UNICAST;
    }
    if (low >>> 32 == 0xffff) {
      return IPV4_MAPPED;
    }
    if (length < Prefix.MAX_LENGTH || low > 1 || low < 0) {
      return UNICAST;
    }
    return low == 1 ? LOOPBACK : UNSPECIFIED;
  }
}
