package io.heddle.bgp.wire;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Prefix; bits behind its length are zero. An IPv4 prefix is a mapped one (RFC 4291 §2.5.5.2),
 * {@code ::ffff:10.0.0.0/104} for 10.0.0.0/8, so that one table and one order serve both address
 * families.
 *
 * @param high the first 64 bits of the address, as on the wire
 * @param low the last 64 bits
 * @param length prefix length, 0 to 128
 */
public record Prefix(long high, long low, int length) implements Comparable<Prefix> {
  public static final int MAX_LENGTH = 128;
  public static final Prefix DEFAULT_ROUTE = new Prefix(0, 0, 0);

  /** Number of bits in front of a mapped IPv4 address. */
  public static final int MAPPED_BITS = 96;

  private static final long MAPPED = 0xffffL << 32;
  private static final long IPV4_MASK = 0xffff_ffffL;

  /**
   * @throws IllegalArgumentException if the length isn't 0 to 128
   */
  public Prefix {
    if (length < 0 || length > MAX_LENGTH) {
      throw new IllegalArgumentException("a prefix has 0 to 128 bits, not " + length);
    }
    high &= highMask(length);
    low &= lowMask(length);
  }

  /** Returns the mask of the upper 64 address bits for a prefix of this length. */
  public static long highMask(int length) {
    return length >= 64 ? -1L : length == 0 ? 0 : -1L << 64 - length;
  }

  /** Returns the mask of the lower 64 address bits for a prefix of this length. */
  public static long lowMask(int length) {
    return length >= 128 ? -1L : length <= 64 ? 0 : -1L << 128 - length;
  }

  /**
   * Parses {@code fd00:aa::/32} or {@code 10.2.0.0/16}; an address without a length is a host
   * route.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static Prefix of(String text) {
    AddressPrefix parsed = AddressPrefix.parse(text);
    return of(parsed.address(), parsed.lengthBits());
  }

  /**
   * @param length prefix length of the address's family, 0 to 32 or 0 to 128
   */
  public static Prefix of(InetAddress address, int length) {
    ByteBuffer raw = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet4Address
        ? ipv4(raw.getInt(0), length)
        : new Prefix(raw.getLong(0), raw.getLong(8), length);
  }

  /**
   * @param length prefix length, 0 to 32
   */
  public static Prefix ipv4(int address, int length) {
    return new Prefix(0, MAPPED | address & IPV4_MASK, MAPPED_BITS + length);
  }

  public static Prefix host(InetAddress address) {
    return of(address, address instanceof Inet4Address ? MAX_LENGTH - MAPPED_BITS : MAX_LENGTH);
  }

  /** Returns whether the prefix contains only IPv4 addresses, which are mapped ones. */
  public boolean isIpv4() {
    return isIpv4(high, low, length);
  }

  /** Returns whether an address is a mapped IPv4 address. */
  public static boolean isIpv4(long high, long low) {
    return high == 0 && (low & ~IPV4_MASK) == MAPPED;
  }

  static boolean isIpv4(long high, long low, int length) {
    return length >= MAPPED_BITS && isIpv4(high, low);
  }

  /**
   * Returns the least prefix length to search for an address: 96 for an IPv4 address, because IPv6
   * prefixes such as ::/0 don't apply to IPv4.
   */
  public static int shortestFor(long high, long low) {
    return isIpv4(high, low) ? MAPPED_BITS : 0;
  }

  /** Returns whether every address of the other prefix lies in this one; a prefix covers itself. */
  public boolean covers(Prefix other) {
    return other.length >= length && covers(other.high, other.low);
  }

  public boolean covers(long addressHigh, long addressLow) {
    return (addressHigh & highMask(length)) == high && (addressLow & lowMask(length)) == low;
  }

  /** Returns the length as displayed and on the wire: 0 to 32 for IPv4. */
  public int shownLength() {
    return isIpv4() ? length - MAPPED_BITS : length;
  }

  /** Returns the first address, IPv4 as a mapped one. */
  public Inet6Address address() {
    byte[] raw = ByteBuffer.allocate(16).putLong(high).putLong(low).array();
    try {
      return Inet6Address.getByAddress(null, raw, -1);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("16 bytes are an IPv6 address", impossible);
    }
  }

  /** Returns the first address; for IPv4 an address of four bytes. */
  public InetAddress inetAddress() {
    return isIpv4()
        ? AddressText.ofBytes(ByteBuffer.allocate(Integer.BYTES).putInt((int) low).array())
        : address();
  }

  /** Compares the addresses, then the lengths: a shorter prefix comes first. */
  @Override
  public int compareTo(Prefix other) {
    int order = Long.compareUnsigned(high, other.high);
    if (order == 0) {
      order = Long.compareUnsigned(low, other.low);
    }
    return order == 0 ? Integer.compare(length, other.length) : order;
  }

  @Override
  public String toString() {
    return AddressText.of(inetAddress()) + "/" + shownLength();
  }
}
