package io.heddle.gateway.route;

import io.heddle.addr.AddressPrefix;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Codec of the bodies of rtnetlink messages about routes and rules (linux/rtnetlink.h, fib_rules.h,
 * lwtunnel.h, seg6_iptunnel.h).
 *
 * <pre>
 * rtmsg         family 1 | destination bits 1 | source bits 1 | tos 1 | table 1 | protocol 1 | scope 1 | type 1 | flags 4
 * fib_rule_hdr  family 1 | destination bits 1 | source bits 1 | tos 1 | table 1 | zero 2 | action 1 | flags 4
 * </pre>
 */
final class RouteMessages {
  static final int RTM_NEWROUTE = 24;
  static final int RTM_DELROUTE = 25;
  static final int RTM_GETROUTE = 26;
  static final int RTM_NEWRULE = 32;
  static final int RTM_DELRULE = 33;
  static final int RTM_GETRULE = 34;

  /**
   * Protocol number that marks the gateway's routes and rules (rtm_protocol). No other known daemon
   * uses this number.
   */
  static final int OURS = 72;

  private static final int HEADER_BYTES = 12;
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SCOPE_UNIVERSE = 0;
  private static final int SCOPE_LINK = 253;
  private static final int TYPE_UNICAST = 1;
  private static final int RTA_DST = 1;
  private static final int RTA_OIF = 4;
  private static final int RTA_GATEWAY = 5;
  private static final int RTA_TABLE = 15;
  private static final int RTA_ENCAP_TYPE = 21;
  private static final int RTA_ENCAP = 22;
  private static final short LWTUNNEL_ENCAP_SEG6 = 5;
  private static final int SEG6_IPTUNNEL_SRH = 1;
  private static final int SEG6_MODE_ENCAP = 1;
  private static final int SEG6_MODE_ENCAP_RED = 3;
  private static final byte SRH_TYPE = 4;
  private static final int FRA_PRIORITY = 6;
  private static final int FRA_FWMARK = 10;
  private static final int FRA_TABLE = 15;
  private static final int FRA_FWMASK = 16;
  private static final int FRA_PROTOCOL = 21;
  private static final byte ACTION_TO_TABLE = 1;
  private static final int MOST_BYTES = 1024;

  private RouteMessages() {}

  /** Key of an installed route, for its removal. */
  record Place(int table, AddressPrefix destination) {}

  static Place place(KernelRoute route) {
    return new Place(route.table(), network(route.destination()));
  }

  /*
   * Clears the address bits after the prefix, since the kernel refuses a route in which they are
   * set.
   */
  private static AddressPrefix network(AddressPrefix prefix) {
    byte[] raw = prefix.address().getAddress();
    for (int bit = prefix.lengthBits(); bit < 8 * raw.length; bit++) {
      raw[bit / 8] &= (byte) ~(0x80 >> bit % 8);
    }
    return new AddressPrefix(address(raw), prefix.lengthBits());
  }

  private static InetAddress address(byte[] raw) {
    try {
      return InetAddress.getByAddress(raw);
    } catch (java.net.UnknownHostException wrongLength) {
      throw new IllegalArgumentException(raw.length + " bytes aren't an address", wrongLength);
    }
  }

  private static boolean isIpv6(AddressPrefix prefix) {
    return prefix.address() instanceof Inet6Address;
  }

  static byte[] route(KernelRoute route) {
    ByteBuffer body = routeHead(place(route), scope(route));
    NetlinkAttributes.put(body, RTA_OIF, NetlinkAttributes.number(route.interfaceIndex()));
    switch (route.next()) {
      case KernelRoute.ToNeighbour to ->
          NetlinkAttributes.put(body, RTA_GATEWAY, to.neighbour().getAddress());
      case KernelRoute.ToSegments to -> {
        NetlinkAttributes.put(body, RTA_ENCAP_TYPE, NetlinkAttributes.number(LWTUNNEL_ENCAP_SEG6));
        NetlinkAttributes.put(body, RTA_ENCAP | NetlinkAttributes.NESTED, encapsulation(to.path()));
      }
    }
    return NetlinkAttributes.bytes(body);
  }

  private static int scope(KernelRoute route) {
    return isIpv6(route.destination()) || route.next() instanceof KernelRoute.ToNeighbour
        ? SCOPE_UNIVERSE
        : SCOPE_LINK;
  }

  static byte[] removal(Place place) {
    return NetlinkAttributes.bytes(routeHead(place, SCOPE_UNIVERSE));
  }

  private static ByteBuffer routeHead(Place place, int scope) {
    AddressPrefix destination = place.destination();
    ByteBuffer body = NetlinkAttributes.buffer(MOST_BYTES);
    body.put((byte) (isIpv6(destination) ? AF_INET6 : AF_INET));
    body.put((byte) destination.lengthBits()).put((byte) 0).put((byte) 0);
    /* The table is in an attribute, since this field has only 8 bits. */
    body.put((byte) 0).put((byte) OURS).put((byte) scope).put((byte) TYPE_UNICAST).putInt(0);
    NetlinkAttributes.put(body, RTA_DST, destination.address().getAddress());
    NetlinkAttributes.put(body, RTA_TABLE, NetlinkAttributes.number(place.table()));
    return body;
  }

  /* mode 4 | SRH (RFC 8754, 2): next header 1 | length 1 | type 1 | segments left 1 | last entry 1 | flags 1 | tag 2 | list */
  private static byte[] encapsulation(SegmentPath path) {
    List<Inet6Address> segments = path.segments();
    ByteBuffer tunnel = NetlinkAttributes.buffer(MOST_BYTES);
    tunnel.putInt(path.reduced() ? SEG6_MODE_ENCAP_RED : SEG6_MODE_ENCAP);
    tunnel.put((byte) 0).put((byte) (2 * segments.size())).put(SRH_TYPE);
    tunnel.put((byte) (segments.size() - 1)).put((byte) (segments.size() - 1));
    tunnel.put((byte) 0).putShort((short) 0);
    for (Inet6Address segment : segments.reversed()) {
      tunnel.put(segment.getAddress());
    }
    ByteBuffer nested = NetlinkAttributes.buffer(MOST_BYTES);
    NetlinkAttributes.put(nested, SEG6_IPTUNNEL_SRH, NetlinkAttributes.bytes(tunnel));
    return NetlinkAttributes.bytes(nested);
  }

  /** Returns the body of a request for all routes or rules of a family. */
  static byte[] all(boolean ipv6) {
    ByteBuffer body = NetlinkAttributes.buffer(HEADER_BYTES);
    body.put(0, (byte) (ipv6 ? AF_INET6 : AF_INET));
    return body.array();
  }

  /** Returns the key of a route, if the route has our protocol number. */
  static Optional<Place> ownPlace(ByteBuffer message) {
    if (message.capacity() < HEADER_BYTES || (message.get(5) & 0xff) != OURS) {
      return Optional.empty();
    }
    Map<Integer, ByteBuffer> attributes = NetlinkAttributes.read(message, HEADER_BYTES);
    byte[] destination = NetlinkAttributes.bytesOf(attributes.get(RTA_DST));
    if (destination.length == 0) {
      destination = new byte[message.get(0) == AF_INET6 ? 16 : 4];
    }
    return Optional.of(
        new Place(
            NetlinkAttributes.intOf(attributes.get(RTA_TABLE)),
            new AddressPrefix(address(destination), message.get(1) & 0xff)));
  }

  static byte[] rule(MarkRule rule) {
    ByteBuffer body = NetlinkAttributes.buffer(MOST_BYTES);
    body.put((byte) (rule.ipv6() ? AF_INET6 : AF_INET)).put(new byte[6]).put(ACTION_TO_TABLE);
    body.putInt(0);
    NetlinkAttributes.put(body, FRA_PRIORITY, NetlinkAttributes.number(rule.preference()));
    NetlinkAttributes.put(body, FRA_FWMARK, NetlinkAttributes.number(rule.mark()));
    NetlinkAttributes.put(body, FRA_FWMASK, NetlinkAttributes.number(rule.mask()));
    NetlinkAttributes.put(body, FRA_TABLE, NetlinkAttributes.number(rule.table()));
    NetlinkAttributes.put(body, FRA_PROTOCOL, new byte[] {OURS});
    return NetlinkAttributes.bytes(body);
  }

  /** Returns a rule, if the rule has our protocol number. */
  static Optional<MarkRule> ownRule(ByteBuffer message) {
    Map<Integer, ByteBuffer> attributes = NetlinkAttributes.read(message, HEADER_BYTES);
    if (!Arrays.equals(
        NetlinkAttributes.bytesOf(attributes.get(FRA_PROTOCOL)), new byte[] {OURS})) {
      return Optional.empty();
    }
    return Optional.of(
        new MarkRule(
            message.get(0) == AF_INET6,
            NetlinkAttributes.intOf(attributes.get(FRA_FWMARK)),
            NetlinkAttributes.intOf(attributes.get(FRA_FWMASK)),
            NetlinkAttributes.intOf(attributes.get(FRA_TABLE)),
            NetlinkAttributes.intOf(attributes.get(FRA_PRIORITY))));
  }
}
