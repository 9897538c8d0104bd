package io.heddle.bgp.wire;

import io.heddle.addr.AddressText;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * An IPv6 prefix; bits behind its length are zero.
 *
 * @param high the first 64 bits of the address, as on the wire
 * @param low the last 64 bits
 * @param length bits that count, 0 to 128
 */
public record Prefix(long high, long low, int length) implements Comparable<Prefix> {
  public static final int MAX_LENGTH = 128;
  public static final Prefix DEFAULT_ROUTE = new Prefix(0, 0, 0);

  /**
   * @throws IllegalArgumentException where the length isn't 0 to 128
   */
  public Prefix {
    if (length < 0 || length > MAX_LENGTH) {
      throw new IllegalArgumentException("an IPv6 prefix has 0 to 128 bits, not " + length);
    }
    high &= highMask(length);
    low &= lowMask(length);
  }

  /** The bits of the first half that a prefix of this length keeps. */
  public static long highMask(int length) {
    return length >= 64 ? -1L : length == 0 ? 0 : -1L << 64 - length;
  }

  /** The bits of the second half that a prefix of this length keeps. */
  public static long lowMask(int length) {
    return length >= 128 ? -1L : length <= 64 ? 0 : -1L << 128 - length;
  }

  /**
   * {@code fd00:aa::/32}; an address alone is its host route.
   *
   * @throws IllegalArgumentException where the text is something else
   */
  public static Prefix of(String text) {
    int slash = text.indexOf('/');
    InetAddress address = AddressText.parse(slash < 0 ? text : text.substring(0, slash));
    if (!(address instanceof Inet6Address v6)) {
      throw new IllegalArgumentException("\"" + text + "\" is no IPv6 prefix like fd00:aa::/32");
    }
    try {
      return of(v6, slash < 0 ? MAX_LENGTH : Integer.parseInt(text.substring(slash + 1)));
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException("\"" + text + "\" has no length behind its /", notANumber);
    }
  }

  public static Prefix of(Inet6Address address, int length) {
    ByteBuffer raw = ByteBuffer.wrap(address.getAddress());
    return new Prefix(raw.getLong(0), raw.getLong(8), length);
  }

  public static Prefix host(Inet6Address address) {
    return of(address, MAX_LENGTH);
  }

  /** Whether every address of the other prefix lies in this one; a prefix covers itself. */
  public boolean covers(Prefix other) {
    return other.length >= length && covers(other.high, other.low);
  }

  public boolean covers(long addressHigh, long addressLow) {
    return (addressHigh & highMask(length)) == high && (addressLow & lowMask(length)) == low;
  }

  /** Bytes that the prefix takes behind its length octet. */
  public int wireBytes() {
    return length + 7 >>> 3;
  }

  public Inet6Address address() {
    byte[] raw = ByteBuffer.allocate(16).putLong(high).putLong(low).array();
    try {
      return Inet6Address.getByAddress(null, raw, -1);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("16 bytes are an IPv6 address", impossible);
    }
  }

  /** By address, then shorter before longer. */
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
    return AddressText.of(address()) + "/" + length;
  }
}
