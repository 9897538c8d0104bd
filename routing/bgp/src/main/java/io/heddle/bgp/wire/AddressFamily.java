package io.heddle.bgp.wire;

/** Address family and subsequent address family (RFC 4760 §3). */
public record AddressFamily(int afi, int safi) {
  public static final AddressFamily IPV4_UNICAST = new AddressFamily(1, 1);
  public static final AddressFamily IPV6_UNICAST = new AddressFamily(2, 1);
  public static final AddressFamily IPV4_FLOWSPEC = new AddressFamily(1, 133);
  public static final AddressFamily IPV6_FLOWSPEC = new AddressFamily(2, 133);

  /** Returns whether the family is IPv4 or IPv6 unicast. */
  public boolean isUnicast() {
    return equals(IPV6_UNICAST) || equals(IPV4_UNICAST);
  }

  /** Returns the unicast family of a prefix. */
  public static AddressFamily of(Prefix prefix) {
    return prefix.isIpv4() ? IPV4_UNICAST : IPV6_UNICAST;
  }

  @Override
  public String toString() {
    String name = afi == 1 ? "IPv4" : afi == 2 ? "IPv6" : "family " + afi;
    return name + (safi == 1 ? " unicast" : safi == 133 ? " Flowspec" : "/" + safi);
  }
}
