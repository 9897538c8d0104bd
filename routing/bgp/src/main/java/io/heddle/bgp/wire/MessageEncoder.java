package io.heddle.bgp.wire;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Encoder of messages. */
public final class MessageEncoder {
  private static final int NEXT_HOP_BYTES = 16;

  /** List of one family's routes, which are encoded one after another. */
  private interface Run {
    int size();

    int bytes(int index);

    void write(int index, WireWriter out);
  }

  private final WireOptions options;

  public MessageEncoder(WireOptions options) {
    this.options = options;
  }

  /**
   * Encodes one message.
   *
   * @throws IllegalArgumentException if the message doesn't fit; {@link #encodeAll} splits an
   *     UPDATE of many routes
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

  /**
   * Encodes an UPDATE in as many messages as its routes need: for each family first the withdrawn
   * routes, then the announced ones. Families that aren't negotiated are omitted.
   */
  public List<byte[]> encodeAll(UpdateMessage update) {
    List<byte[]> messages = new ArrayList<>();
    Families families = options.families();
    AddressFamily end = update.endOfRib();
    if (end != null) {
      if (families.has(end)) {
        endOfRib(end, messages);
      }
      return messages;
    }
    byte[] attributes = attributes(update);
    NextHop nextHop = update.nextHop();
    Nlri withdrawn = update.withdrawn();
    Nlri announced = update.announced();
    if (families.ipv6Unicast()) {
      Nlri gone = withdrawn.of(AddressFamily.IPV6_UNICAST);
      if (!gone.isEmpty()) {
        unreach(AddressFamily.IPV6_UNICAST, run(gone), messages);
      }
      Run come = run(announced.of(AddressFamily.IPV6_UNICAST));
      reach(AddressFamily.IPV6_UNICAST, come, nextHop, true, attributes, messages);
    }
    if (families.ipv4Unicast()) {
      Ipv4Fields fields = new Ipv4Fields(options.maxMessageBytes());
      fields.withdraw(withdrawn.of(AddressFamily.IPV4_UNICAST));
      fields.announce(announced.of(AddressFamily.IPV4_UNICAST), nextHop, attributes);
      fields.bodies().forEach(each -> messages.add(update(each)));
    }
    for (FamilyRoutes<?> each : update.otherFamilies()) {
      if (families.has(each.family())) {
        encodeAll(each, attributes, messages);
      }
    }
    return messages;
  }

  private void endOfRib(AddressFamily family, List<byte[]> messages) {
    if (family.equals(AddressFamily.IPV4_UNICAST)) {
      messages.add(update(new WireWriter().u16(0).u16(0)));
    } else {
      unreach(family, run(Nlri.EMPTY), messages);
    }
  }

  private <R> void encodeAll(FamilyRoutes<R> routes, byte[] attributes, List<byte[]> messages) {
    FamilyCodec<R> codec = routes.codec();
    if (!routes.withdrawn().isEmpty()) {
      unreach(codec.family(), run(codec, routes.withdrawn()), messages);
    }
    Run announced = run(codec, routes.announced());
    reach(codec.family(), announced, routes.nextHop(), codec.hasNextHop(), attributes, messages);
  }

  private byte[] attributes(UpdateMessage update) {
    WireWriter out = new WireWriter();
    AttributeEncoder encoder = new AttributeEncoder(options);
    update.attributes().all().forEach(each -> encoder.encode(each, out));
    return out.toArray();
  }

  /*
   * Writes withdrawn routes in MP_UNREACH_NLRI. Without routes it still writes one message, which
   * is an End-of-RIB.
   */
  private void unreach(AddressFamily family, Run routes, List<byte[]> messages) {
    int from = 0;
    do {
      WireWriter out = new WireWriter();
      out.u8(PathAttribute.OPTIONAL | PathAttribute.EXTENDED_LENGTH);
      out.u8(PathAttribute.MP_UNREACH_NLRI);
      from = routes(routes, from, 0, out, () -> family(family, out));
      messages.add(update(body(out)));
    } while (from < routes.size());
  }

  private void reach(
      AddressFamily family,
      Run routes,
      @Nullable NextHop nextHop,
      boolean hasNextHop,
      byte[] attributes,
      List<byte[]> messages) {
    if (routes.size() > 0 && hasNextHop && nextHop == null) {
      throw new IllegalArgumentException("announced routes need a next hop");
    }
    for (int from = 0; from < routes.size(); ) {
      WireWriter out = new WireWriter();
      out.u8(PathAttribute.OPTIONAL | PathAttribute.EXTENDED_LENGTH);
      out.u8(PathAttribute.MP_REACH_NLRI);
      from =
          routes(
              routes,
              from,
              attributes.length,
              out,
              () -> {
                family(family, out);
                nextHop(hasNextHop ? nextHop : null, out);
                out.u8(0);
              });
      messages.add(update(body(out.bytes(attributes))));
    }
  }

  private static void nextHop(@Nullable NextHop nextHop, WireWriter out) {
    if (nextHop == null) {
      out.u8(0);
      return;
    }
    out.u8(nextHop.hasLinkLocal() ? 2 * NEXT_HOP_BYTES : NEXT_HOP_BYTES);
    out.u64(nextHop.globalHigh()).u64(nextHop.globalLow());
    if (nextHop.hasLinkLocal()) {
      out.u64(nextHop.linkHigh()).u64(nextHop.linkLow());
    }
  }

  private static void family(AddressFamily family, WireWriter out) {
    out.u16(family.afi()).u8(family.safi());
  }

  private static Run run(Nlri routes) {
    return new Run() {
      @Override
      public int size() {
        return routes.size();
      }

      @Override
      public int bytes(int index) {
        return 1 + (routes.length(index) + 7 >>> 3);
      }

      @Override
      public void write(int index, WireWriter out) {
        out.prefix(routes.high(index), routes.low(index), routes.length(index), false);
      }
    };
  }

  private static <R> Run run(FamilyCodec<R> codec, List<R> routes) {
    List<byte[]> all = routes.stream().map(codec::encode).toList();
    return new Run() {
      @Override
      public int size() {
        return all.size();
      }

      @Override
      public int bytes(int index) {
        return all.get(index).length;
      }

      @Override
      public void write(int index, WireWriter out) {
        out.bytes(all.get(index));
      }
    };
  }

  /** Writes as many routes as fit; returns the index of the first route that doesn't. */
  private int routes(Run routes, int from, int otherBytes, WireWriter out, Runnable head) {
    int lengthAt = out.size();
    out.u16(0);
    head.run();
    int room =
        options.maxMessageBytes()
            - BgpMessage.HEADER_BYTES
            - UpdateDecoder.MIN_BODY_BYTES
            - otherBytes;
    int at = from;
    while (at < routes.size() && out.size() + routes.bytes(at) <= room) {
      routes.write(at, out);
      at++;
    }
    if (at == from && from < routes.size()) {
      throw new IllegalArgumentException(
          otherBytes + " bytes of attributes leave no space for a route");
    }
    out.setU16(lengthAt, out.size() - lengthAt - 2);
    return at;
  }

  private static WireWriter body(WireWriter attributes) {
    return new WireWriter().u16(0).u16(attributes.size()).bytes(attributes.toArray());
  }

  private byte[] update(WireWriter body) {
    return end(begin().bytes(body.toArray()), MessageDecoder.UPDATE);
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
