package io.heddle.bgp.wire;

/** An address family and what of it (RFC 4760 §3). */
public record AddressFamily(int afi, int safi) {
  public static final AddressFamily IPV4_UNICAST = new AddressFamily(1, 1);
  public static final AddressFamily IPV6_UNICAST = new AddressFamily(2, 1);
  public static final AddressFamily IPV4_FLOWSPEC = new AddressFamily(1, 133);
  public static final AddressFamily IPV6_FLOWSPEC = new AddressFamily(2, 133);

  /** Whether it is one of both families of plain routes. */
  public boolean isUnicast() {
    return equals(IPV6_UNICAST) || equals(IPV4_UNICAST);
  }

  /** The family of plain routes that a prefix is of. */
  public static AddressFamily of(Prefix prefix) {
    return prefix.isIpv4() ? IPV4_UNICAST : IPV6_UNICAST;
  }

  @Override
  public String toString() {
    String name = afi == 1 ? "IPv4" : afi == 2 ? "IPv6" : "family " + afi;
    return name + (safi == 1 ? " unicast" : safi == 133 ? " Flowspec" : "/" + safi);
  }
}
