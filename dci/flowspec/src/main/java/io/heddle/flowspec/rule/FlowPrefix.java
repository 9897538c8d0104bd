package io.heddle.flowspec.rule;

import io.heddle.addr.AddressText;
import io.heddle.bgp.wire.Prefix;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Addresses of both families as IPv6 prefixes, IPv4 mapped (RFC 4291 §2.5.5.2), as the data plane
 * has them. So one table and one order serve both.
 */
public final class FlowPrefix {
  /** Bits in front of a mapped IPv4 address. */
  static final int MAPPED_BITS = 96;

  private static final long MAPPED = 0xffffL << 32;
  private static final long IPV4_MASK = 0xffff_ffffL;

  private FlowPrefix() {}

  /**
   * {@code fd00:2::/32} or {@code 10.2.0.0/16}; an address alone is its host route.
   *
   * @throws IllegalArgumentException where the text is something else
   */
  public static Prefix of(String text) {
    int slash = text.indexOf('/');
    InetAddress address = AddressText.parse(slash < 0 ? text : text.substring(0, slash));
    if (!(address instanceof Inet4Address v4)) {
      return Prefix.of(text);
    }
    try {
      int length = slash < 0 ? 32 : Integer.parseInt(text.substring(slash + 1));
      if (length >= 0 && length <= 32) {
        return ipv4(ByteBuffer.wrap(v4.getAddress()).getInt(), length);
      }
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException("\"" + text + "\" has no length behind its /", notANumber);
    }
    throw new IllegalArgumentException("\"" + text + "\": an IPv4 prefix has 0 to 32 bits");
  }

  /** An address alone. */
  public static Prefix host(InetAddress address) {
    return address instanceof Inet6Address v6
        ? Prefix.host(v6)
        : ipv4(ByteBuffer.wrap(address.getAddress()).getInt(), 32);
  }

  static Prefix ipv4(int address, int length) {
    return new Prefix(0, MAPPED | address & IPV4_MASK, MAPPED_BITS + length);
  }

  /** The prefix's first address, IPv4 where it was mapped. */
  public static InetAddress address(Prefix prefix) {
    if (!isIpv4(prefix)) {
      return prefix.address();
    }
    try {
      return InetAddress.getByAddress(
          ByteBuffer.allocate(Integer.BYTES).putInt((int) prefix.low()).array());
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("4 bytes are an IPv4 address", impossible);
    }
  }

  /** Whether all of the prefix is IPv4. */
  public static boolean isIpv4(Prefix prefix) {
    return prefix.length() >= MAPPED_BITS && isIpv4(prefix.high(), prefix.low());
  }

  static boolean isIpv4(long high, long low) {
    return high == 0 && (low & ~IPV4_MASK) == MAPPED;
  }
}
