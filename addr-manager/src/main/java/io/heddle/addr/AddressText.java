package io.heddle.addr;

import io.heddle.platform.Ipv6Text;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Text form and order of IP addresses. Never queries a name server. */
public final class AddressText {
  /**
   * Order with IPv4 addresses before IPv6 addresses, and otherwise by bytes as unsigned numbers.
   */
  public static final Comparator<InetAddress> ORDER =
      (left, right) -> compare(left.getAddress(), right.getAddress());

  private AddressText() {}

  private static int compare(byte[] left, byte[] right) {
    int longer = Integer.compare(left.length, right.length);
    return longer != 0 ? longer : Arrays.compareUnsigned(left, right);
  }

  /** Returns IPv6 in the canonical form of RFC 5952, without a zone; IPv4 as dotted quad. */
  public static String of(InetAddress address) {
    if (!(address instanceof Inet6Address)) {
      return address.getHostAddress();
    }
    return Ipv6Text.of(address.getAddress());
  }

  /** Returns the socket address as text: {@code 10.0.0.1:4791}, {@code [fd00::1]:4791}. */
  public static String of(InetSocketAddress socket) {
    InetAddress address = socket.getAddress();
    if (address == null) {
      return socket.getHostString() + ":" + socket.getPort();
    }
    String text = of(address);
    return (address instanceof Inet6Address ? "[" + text + "]" : text) + ":" + socket.getPort();
  }

  /**
   * Parses a numeric address without a zone. Returns null if the text isn't one. IPv4 must have
   * four numbers.
   */
  public static @Nullable InetAddress parse(String text) {
    boolean v6 = text.indexOf(':') >= 0;
    if (text.indexOf('%') >= 0
        || text.indexOf('[') >= 0
        || !v6 && !text.matches("[0-9]+(\\.[0-9]+){3}")) {
      return null;
    }
    try {
      return v6 ? Inet6Address.ofLiteral(text) : Inet4Address.ofLiteral(text);
    } catch (IllegalArgumentException notAnAddress) {
      return null;
    }
  }

  /**
   * Parses an address as {@link #parse} does.
   *
   * @throws IllegalArgumentException if the text isn't one
   */
  public static InetAddress require(String text) {
    InetAddress address = parse(text);
    if (address == null) {
      throw new IllegalArgumentException("'" + text + "' isn't an IP address");
    }
    return address;
  }

  /**
   * Parses the address of a host: neither a multicast address, nor {@code ::} or {@code 0.0.0.0}.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static InetAddress requireHost(String text) {
    InetAddress address = require(text);
    if (address.isMulticastAddress() || address.isAnyLocalAddress()) {
      throw new IllegalArgumentException("'" + text + "' isn't a host's address");
    }
    return address;
  }

  /**
   * Parses an IPv6 address.
   *
   * @throws IllegalArgumentException if the text isn't one
   */
  public static Inet6Address requireIpv6(String text) {
    if (parse(text) instanceof Inet6Address address) {
      return address;
    }
    throw new IllegalArgumentException("'" + text + "' isn't an IPv6 address");
  }

  /**
   * Parses the IPv6 address of a host, as {@link #requireHost} does.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static Inet6Address requireIpv6Host(String text) {
    requireHost(text);
    return requireIpv6(text);
  }

  /**
   * Parses four numbers such as {@code 10.0.0.5}, but not {@code 0.0.0.0}, into a BGP identifier.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static int requireRouterId(String text) {
    if (parse(text) instanceof Inet4Address address && !address.isAnyLocalAddress()) {
      return ByteBuffer.wrap(address.getAddress()).getInt();
    }
    throw new IllegalArgumentException("'" + text + "' isn't a router id");
  }

  public static InetAddress ofBytes(byte[] raw) {
    try {
      return InetAddress.getByAddress(raw);
    } catch (UnknownHostException badLength) {
      throw new IllegalArgumentException(raw.length + " bytes aren't an address", badLength);
    }
  }
}
