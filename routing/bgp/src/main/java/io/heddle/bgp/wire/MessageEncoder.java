package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;

/** Messages to bytes. */
public final class MessageEncoder {
  private static final int NEXT_HOP_BYTES = 16;

  private final WireOptions options;

  public MessageEncoder(WireOptions options) {
    this.options = options;
  }

  /**
   * One message.
   *
   * @throws IllegalArgumentException where it doesn't fit; an UPDATE of many routes is for {@link
   *     #encodeAll}
   */
  public byte[] encode(BgpMessage message) {
    List<byte[]> all = message instanceof UpdateMessage update ? encodeAll(update) : null;
    if (all != null) {
      if (all.size() != 1) {
        throw new IllegalArgumentException("the routes need " + all.size() + " messages, not one");
      }
      return all.getFirst();
    }
    WireWriter out = begin();
    int type =
        switch (message) {
          case OpenMessage open -> {
            OpenCodec.encode(open, out);
            yield MessageDecoder.OPEN;
          }
          case NotificationMessage notification -> {
            out.u8(notification.code()).u8(notification.subcode()).bytes(notification.body());
            yield MessageDecoder.NOTIFICATION;
          }
          case KeepaliveMessage keepalive -> MessageDecoder.KEEPALIVE;
          case RouteRefreshMessage refresh -> {
            RouteRefreshCodec.encode(refresh, out);
            yield MessageDecoder.ROUTE_REFRESH;
          }
          case UpdateMessage update -> throw new IllegalStateException("done above");
        };
    return end(out, type);
  }

  /** An UPDATE, in as many messages as its routes need: first the withdrawn, then the announced. */
  public List<byte[]> encodeAll(UpdateMessage update) {
    List<byte[]> messages = new ArrayList<>();
    if (update.announced().isEmpty() || !update.withdrawn().isEmpty()) {
      int from = 0;
      do {
        WireWriter attributes = new WireWriter();
        from = unreach(update.withdrawn(), from, attributes);
        messages.add(update(attributes));
      } while (from < update.withdrawn().size());
    }
    if (!update.announced().isEmpty()) {
      WireWriter shared = new WireWriter();
      AttributeEncoder encoder = new AttributeEncoder(options);
      update.attributes().all().forEach(each -> encoder.encode(each, shared));
      byte[] rest = shared.toArray();
      for (int from = 0; from < update.announced().size(); ) {
        WireWriter attributes = new WireWriter();
        from = reach(update, from, rest.length, attributes);
        messages.add(update(attributes.bytes(rest)));
      }
    }
    return messages;
  }

  private int unreach(Nlri routes, int from, WireWriter out) {
    out.u8(PathAttribute.OPTIONAL | PathAttribute.EXTENDED_LENGTH);
    out.u8(PathAttribute.MP_UNREACH_NLRI);
    return routes(routes, from, 0, out, () -> family(out));
  }

  private int reach(UpdateMessage update, int from, int otherBytes, WireWriter out) {
    NextHop nextHop = update.nextHop();
    if (nextHop == null) {
      throw new IllegalArgumentException("announced routes need a next hop");
    }
    out.u8(PathAttribute.OPTIONAL | PathAttribute.EXTENDED_LENGTH).u8(PathAttribute.MP_REACH_NLRI);
    return routes(
        update.announced(),
        from,
        otherBytes,
        out,
        () -> {
          family(out);
          out.u8(nextHop.hasLinkLocal() ? 2 * NEXT_HOP_BYTES : NEXT_HOP_BYTES);
          out.u64(nextHop.globalHigh()).u64(nextHop.globalLow());
          if (nextHop.hasLinkLocal()) {
            out.u64(nextHop.linkHigh()).u64(nextHop.linkLow());
          }
          out.u8(0);
        });
  }

  private static void family(WireWriter out) {
    out.u16(AddressFamily.IPV6_UNICAST.afi()).u8(AddressFamily.IPV6_UNICAST.safi());
  }

  /** As many routes as fit; returns the first that doesn't. */
  private int routes(Nlri routes, int from, int otherBytes, WireWriter out, Runnable head) {
    int lengthAt = out.size();
    out.u16(0);
    head.run();
    int room =
        options.maxMessageBytes()
            - BgpMessage.HEADER_BYTES
            - UpdateDecoder.MIN_BODY_BYTES
            - otherBytes;
    int at = from;
    while (at < routes.size() && out.size() + 1 + (routes.length(at) + 7 >>> 3) <= room) {
      out.prefix(routes.high(at), routes.low(at), routes.length(at));
      at++;
    }
    if (at == from && from < routes.size()) {
      throw new IllegalArgumentException(
          otherBytes + " bytes of attributes leave no room for a route");
    }
    out.setU16(lengthAt, out.size() - lengthAt - 2);
    return at;
  }

  private byte[] update(WireWriter attributes) {
    WireWriter out = begin();
    out.u16(0).u16(attributes.size()).bytes(attributes.toArray());
    return end(out, MessageDecoder.UPDATE);
  }

  private static WireWriter begin() {
    return new WireWriter().fill(16, 0xff).u16(0).u8(0);
  }

  private byte[] end(WireWriter out, int type) {
    int most = type == MessageDecoder.OPEN ? BgpMessage.MAX_BYTES : options.maxMessageBytes();
    if (out.size() > most) {
      throw new IllegalArgumentException(
          "a message of " + out.size() + " bytes is longer than " + most);
    }
    out.setU16(16, out.size());
    out.setU8(18, type);
    return out.toArray();
  }
}
