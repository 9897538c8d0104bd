package io.heddle.bgp.wire;

import io.heddle.bgp.wire.Capability.EnhancedRouteRefresh;
import io.heddle.bgp.wire.Capability.ExtendedMessage;
import io.heddle.bgp.wire.Capability.ExtendedNextHop;
import io.heddle.bgp.wire.Capability.FourOctetAs;
import io.heddle.bgp.wire.Capability.GracefulRestart;
import io.heddle.bgp.wire.Capability.LinkLocalNextHop;
import io.heddle.bgp.wire.Capability.Multiprotocol;
import io.heddle.bgp.wire.Capability.OutboundRouteFilter;
import io.heddle.bgp.wire.Capability.Role;
import io.heddle.bgp.wire.Capability.RouteRefresh;
import io.heddle.bgp.wire.Capability.Unknown;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Codec of capabilities. */
final class CapabilityCodec {
  private static final int FAMILY_BYTES = 4;
  private static final int TIME_MASK = 0xfff;
  private static final int RESTART_FLAG = 0x8000;
  private static final int NOTIFICATION_FLAG = 0x4000;
  private static final int FORWARDING_FLAG = 0x80;

  private CapabilityCodec() {}

  /** Decodes one capability; the result is {@link Unknown} if its value has the wrong form. */
  static Capability decode(int code, byte[] bytes, int at, int length) {
    Capability known =
        switch (code) {
          case Capability.MULTIPROTOCOL ->
              length == FAMILY_BYTES ? new Multiprotocol(family(bytes, at)) : null;
          case Capability.ROUTE_REFRESH -> length == 0 ? new RouteRefresh() : null;
          case Capability.ENHANCED_ROUTE_REFRESH -> length == 0 ? new EnhancedRouteRefresh() : null;
          case Capability.EXTENDED_MESSAGE -> length == 0 ? new ExtendedMessage() : null;
          case Capability.LINK_LOCAL_NEXT_HOP -> length == 0 ? new LinkLocalNextHop() : null;
          case Capability.FOUR_OCTET_AS ->
              length == 4 ? new FourOctetAs(WireBytes.u32(bytes, at)) : null;
          case Capability.ROLE -> length == 1 ? new Role(WireBytes.u8(bytes, at)) : null;
          case Capability.OUTBOUND_ROUTE_FILTER -> filter(bytes, at, length);
          case Capability.EXTENDED_NEXT_HOP -> nextHop(bytes, at, length);
          case Capability.GRACEFUL_RESTART -> restart(bytes, at, length);
          default -> null;
        };
    return known != null ? known : new Unknown(code, Arrays.copyOfRange(bytes, at, at + length));
  }

  private static AddressFamily family(byte[] bytes, int at) {
    return new AddressFamily(WireBytes.u16(bytes, at), WireBytes.u8(bytes, at + 3));
  }

  private static @Nullable Capability filter(byte[] bytes, int start, int length) {
    List<OutboundRouteFilter.Offer> offers = new ArrayList<>();
    int at = start;
    int end = start + length;
    while (at < end) {
      if (at + FAMILY_BYTES + 1 > end) {
        return null;
      }
      AddressFamily family = family(bytes, at);
      int count = WireBytes.u8(bytes, at + FAMILY_BYTES);
      at += FAMILY_BYTES + 1;
      if (at + 2 * count > end) {
        return null;
      }
      for (int i = 0; i < count; i++, at += 2) {
        offers.add(
            new OutboundRouteFilter.Offer(
                family, WireBytes.u8(bytes, at), WireBytes.u8(bytes, at + 1)));
      }
    }
    return new OutboundRouteFilter(offers);
  }

  private static @Nullable Capability nextHop(byte[] bytes, int start, int length) {
    if (length % 6 != 0) {
      return null;
    }
    List<ExtendedNextHop.Encoding> encodings = new ArrayList<>();
    for (int at = start; at < start + length; at += 6) {
      AddressFamily family =
          new AddressFamily(WireBytes.u16(bytes, at), WireBytes.u16(bytes, at + 2));
      encodings.add(new ExtendedNextHop.Encoding(family, WireBytes.u16(bytes, at + 4)));
    }
    return new ExtendedNextHop(encodings);
  }

  private static @Nullable Capability restart(byte[] bytes, int start, int length) {
    if (length < 2 || (length - 2) % FAMILY_BYTES != 0) {
      return null;
    }
    int head = WireBytes.u16(bytes, start);
    List<GracefulRestart.Kept> kept = new ArrayList<>();
    for (int at = start + 2; at < start + length; at += FAMILY_BYTES) {
      AddressFamily family =
          new AddressFamily(WireBytes.u16(bytes, at), WireBytes.u8(bytes, at + 2));
      kept.add(
          new GracefulRestart.Kept(family, (WireBytes.u8(bytes, at + 3) & FORWARDING_FLAG) != 0));
    }
    return new GracefulRestart(
        (head & RESTART_FLAG) != 0, (head & NOTIFICATION_FLAG) != 0, head & TIME_MASK, kept);
  }

  /** Writes code, length and value. */
  static void encode(Capability capability, WireWriter out) {
    out.u8(capability.code());
    int lengthAt = out.size();
    out.u8(0);
    switch (capability) {
      case Multiprotocol one -> out.u16(one.family().afi()).u16(one.family().safi());
      case RouteRefresh one -> {}
      case EnhancedRouteRefresh one -> {}
      case ExtendedMessage one -> {}
      case LinkLocalNextHop one -> {}
      case FourOctetAs one -> out.u32(one.autonomousSystem());
      case Role one -> out.u8(one.role());
      case OutboundRouteFilter one -> {
        for (OutboundRouteFilter.Offer offer : one.offers()) {
          out.u16(offer.family().afi()).u16(offer.family().safi());
          out.u8(1).u8(offer.type()).u8(offer.mode());
        }
      }
      case ExtendedNextHop one -> {
        for (ExtendedNextHop.Encoding encoding : one.encodings()) {
          out.u16(encoding.family().afi()).u16(encoding.family().safi());
          out.u16(encoding.nextHopAfi());
        }
      }
      case GracefulRestart one -> {
        out.u16(
            (one.restarting() ? RESTART_FLAG : 0)
                | (one.notifications() ? NOTIFICATION_FLAG : 0)
                | one.timeSeconds() & TIME_MASK);
        for (GracefulRestart.Kept kept : one.families()) {
          out.u16(kept.family().afi()).u8(kept.family().safi());
          out.u8(kept.forwarding() ? FORWARDING_FLAG : 0);
        }
      }
      case Unknown one -> out.bytes(one.value());
    }
    out.setU8(lengthAt, out.size() - lengthAt - 1);
  }
}
