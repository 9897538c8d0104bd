package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writer of UPDATE bodies with routes in IPv4's own fields (RFC 4271 §4.3): every speaker reads
 * these fields, but some don't read IPv4 in MP_REACH_NLRI.
 */
final class Ipv4Fields {
  private static final int NEXT_HOP_BYTES = 7;

  private final int room;
  private final List<WireWriter> bodies = new ArrayList<>();

  Ipv4Fields(int maxMessageBytes) {
    room = maxMessageBytes - BgpMessage.HEADER_BYTES - UpdateDecoder.MIN_BODY_BYTES;
  }

  List<WireWriter> bodies() {
    return bodies;
  }

  void withdraw(Nlri routes) {
    for (int at = 0; at < routes.size(); ) {
      WireWriter prefixes = new WireWriter();
      at = take(routes, at, prefixes, room);
      bodies.add(new WireWriter().u16(prefixes.size()).bytes(prefixes.toArray()).u16(0));
    }
  }

  /**
   * @throws IllegalArgumentException if the next hop isn't IPv4, or the attributes leave no space
   */
  void announce(Nlri routes, @Nullable NextHop nextHop, byte[] others) {
    if (routes.isEmpty()) {
      return;
    }
    if (nextHop == null || !Prefix.isIpv4(nextHop.globalHigh(), nextHop.globalLow())) {
      throw new IllegalArgumentException("announced IPv4 routes need a next hop of IPv4");
    }
    WireWriter attributes = new WireWriter().bytes(others);
    attributes.u8(PathAttribute.TRANSITIVE).u8(PathAttribute.NEXT_HOP).u8(Integer.BYTES);
    attributes.u32(nextHop.globalLow());
    for (int at = 0; at < routes.size(); ) {
      WireWriter body = new WireWriter().u16(0).u16(attributes.size());
      body.bytes(attributes.toArray());
      int next = take(routes, at, body, room + UpdateDecoder.MIN_BODY_BYTES);
      if (next == at) {
        throw new IllegalArgumentException(
            others.length + NEXT_HOP_BYTES + " bytes of attributes leave no space for a route");
      }
      at = next;
      bodies.add(body);
    }
  }

  /* Writes as many routes as fit; returns the index of the first route that doesn't. */
  private static int take(Nlri routes, int from, WireWriter out, int most) {
    int at = from;
    while (at < routes.size() && out.size() + 1 + Integer.BYTES <= most) {
      out.prefix(routes.high(at), routes.low(at), routes.length(at), true);
      at++;
    }
    return at;
  }
}
