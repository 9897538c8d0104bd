package io.heddle.bgp.net;

import io.heddle.addr.AddressText;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Memory;
import java.net.InetAddress;

/**
 * Address and port. An IPv4 address is a mapped one, as in the kernel's IPv6 sockets.
 *
 * @param scope interface index of a link-local address, else 0
 */
public record Endpoint(long high, long low, int scope, int port) {
  static final int SOCKADDR_BYTES = 28;
  static final int AF_INET6 = 10;

  public static Endpoint of(InetAddress address, int scope, int port) {
    Prefix host = Prefix.host(address);
    boolean scoped = address.isLinkLocalAddress() || address.isMCLinkLocal();
    return new Endpoint(host.high(), host.low(), scoped && !host.isIpv4() ? scope : 0, port);
  }

  public static Endpoint anyAddress(int port) {
    return new Endpoint(0, 0, 0, port);
  }

  /** Returns the IPv4 wildcard address. */
  public static Endpoint anyIpv4Address(int port) {
    Prefix any = Prefix.ipv4(0, Integer.SIZE);
    return new Endpoint(any.high(), any.low(), 0, port);
  }

  public InetAddress address() {
    return new Prefix(high, low, Prefix.MAX_LENGTH).inetAddress();
  }

  public boolean isIpv4() {
    return Prefix.isIpv4(high, low);
  }

  public boolean isLinkLocal() {
    return high >>> 54 == 0xfe80 >>> 6;
  }

  public Endpoint withPort(int other) {
    return new Endpoint(high, low, scope, other);
  }

  /** Returns whether two endpoints have the same address on the same link; ports are ignored. */
  public boolean hasSameAddress(Endpoint other) {
    return high == other.high && low == other.low && (scope == other.scope || !isLinkLocal());
  }

  /** Writes a sockaddr_in6 at a native address. */
  void write(long at) {
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + 2, (short) port);
    Memory.ALL.set(Memory.NATIVE_INT, at + 4, 0);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 8, high);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 16, low);
    Memory.ALL.set(Memory.NATIVE_INT, at + 24, scope);
  }

  /** Reads the sockaddr_in6 at a native address. */
  static Endpoint read(long at) {
    long high = Memory.ALL.get(Memory.NETWORK_LONG, at + 8);
    Endpoint unscoped =
        new Endpoint(
            high,
            Memory.ALL.get(Memory.NETWORK_LONG, at + 16),
            0,
            Memory.ALL.get(Memory.NETWORK_SHORT, at + 2) & 0xffff);
    return unscoped.isLinkLocal()
        ? new Endpoint(
            high, unscoped.low, Memory.ALL.get(Memory.NATIVE_INT, at + 24), unscoped.port)
        : unscoped;
  }

  @Override
  public String toString() {
    String zone = scope == 0 ? "" : "%" + scope;
    String text = AddressText.of(address());
    return (isIpv4() ? text : "[" + text + zone + "]") + ":" + port;
  }
}
