package io.heddle.bgp.wire;

import io.heddle.addr.AddressText;
import org.jspecify.annotations.Nullable;

/**
 * Next hop of a route (RFC 2545 §3): one address of 16 bytes, or two. A host sends packets to its
 * session's peer, not to this address. The value is for display, and for the host's own
 * announcements.
 *
 * @param globalHigh upper half of the first address, which is unspecified if only a link-local one
 *     is known
 * @param linkHigh upper half of the second address, 0 if absent
 */
public record NextHop(long globalHigh, long globalLow, long linkHigh, long linkLow) {
  public boolean hasLinkLocal() {
    return linkHigh != 0 || linkLow != 0;
  }

  /** Returns why the next hop is invalid (RFC 2545 §3, RFC 4291 §2.5); null if it is valid. */
  @Nullable String invalidReason() {
    if (globalHigh == 0 && globalLow == 0) {
      return hasLinkLocal() ? null : "next hop :: is no address";
    }
    AddressKind kind = AddressKind.of(globalHigh, globalLow, Prefix.MAX_LENGTH);
    return switch (kind) {
      case UNICAST, LINK_LOCAL -> null;
      case MULTICAST, LOOPBACK, UNSPECIFIED, IPV4_MAPPED ->
          "next hop " + this + " is " + kind.text();
    };
  }

  /**
   * Returns why the four-byte next hop of an IPv4 route is invalid (RFC 4271 §6.3); null if it is
   * valid.
   */
  @Nullable String invalidIpv4Reason() {
    AddressKind kind = AddressKind.ofIpv4(globalLow, Prefix.MAX_LENGTH);
    return kind == AddressKind.UNICAST ? null : "next hop " + this + " is " + kind.text();
  }

  /** Returns whether the next hop's first or second address is this one. */
  public boolean hasAddress(long high, long low) {
    return high == globalHigh && low == globalLow
        || hasLinkLocal() && high == linkHigh && low == linkLow;
  }

  static NextHop ipv4(int address) {
    Prefix host = Prefix.ipv4(address, Integer.SIZE);
    return new NextHop(host.high(), host.low(), 0, 0);
  }

  public static NextHop of(java.net.Inet6Address address) {
    Prefix host = Prefix.host(address);
    return new NextHop(host.high(), host.low(), 0, 0);
  }

  public static NextHop of(java.net.Inet6Address address, java.net.Inet6Address linkLocal) {
    Prefix host = Prefix.host(address);
    Prefix link = Prefix.host(linkLocal);
    return new NextHop(host.high(), host.low(), link.high(), link.low());
  }

  @Override
  public String toString() {
    String global = AddressText.of(new Prefix(globalHigh, globalLow, 128).inetAddress());
    return hasLinkLocal()
        ? global + " " + AddressText.of(new Prefix(linkHigh, linkLow, 128).address())
        : global;
  }
}
