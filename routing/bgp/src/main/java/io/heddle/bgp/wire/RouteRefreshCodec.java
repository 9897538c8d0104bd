package io.heddle.bgp.wire;

import io.heddle.bgp.wire.RouteRefreshMessage.Filter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Codec of ROUTE-REFRESH bodies. */
final class RouteRefreshCodec {
  static final int MIN_BODY_BYTES = 4;
  private static final int BAD_LENGTH = 1;
  private static final int TYPE_HEADER_BYTES = 3;

  private RouteRefreshCodec() {}

  static DecodeResult decode(byte[] bytes, int start, int length) {
    AddressFamily family =
        new AddressFamily(WireBytes.u16(bytes, start), WireBytes.u8(bytes, start + 3));
    int subtype = WireBytes.u8(bytes, start + 2);
    if (length == MIN_BODY_BYTES) {
      return new RouteRefreshMessage(family, subtype, null);
    }
    if (subtype != RouteRefreshMessage.REQUEST) {
      return MessageFault.of(
          NotificationMessage.ROUTE_REFRESH_ERROR,
          BAD_LENGTH,
          "ROUTE-REFRESH of sub-type " + subtype + " has a body of " + length + " bytes, not 4");
    }
    List<OrfEntry> entries = new ArrayList<>();
    int end = start + length;
    int at = start + MIN_BODY_BYTES + 1;
    while (at < end) {
      int size = end - at < TYPE_HEADER_BYTES ? -1 : WireBytes.u16(bytes, at + 1);
      if (size < 0 || size > end - at - TYPE_HEADER_BYTES) {
        return malformed("a filter is longer than its message");
      }
      int type = WireBytes.u8(bytes, at);
      at += TYPE_HEADER_BYTES;
      boolean isPrefix =
          type == Capability.OutboundRouteFilter.ADDRESS_PREFIX_TYPE && family.isUnicast();
      boolean ipv4 = family.equals(AddressFamily.IPV4_UNICAST);
      if (isPrefix && !addEntries(bytes, at, at + size, ipv4, entries)) {
        return malformed("a line of a filter is cut short or matches impossible lengths");
      }
      at += size;
    }
    boolean immediate = WireBytes.u8(bytes, start + MIN_BODY_BYTES) == Filter.IMMEDIATE;
    return new RouteRefreshMessage(family, subtype, new Filter(immediate, entries));
  }

  private static MessageFault malformed(String why) {
    return MessageFault.of(NotificationMessage.ROUTE_REFRESH_ERROR, BAD_LENGTH, why);
  }

  private static boolean addEntries(
      byte[] bytes, int start, int end, boolean ipv4, List<OrfEntry> to) {
    int at = start;
    while (at < end) {
      OrfEntry entry = entry(bytes, at, end, ipv4);
      if (entry == null) {
        return false;
      }
      to.add(entry);
      at += entry.wireBytes();
    }
    return true;
  }

  private static @Nullable OrfEntry entry(byte[] bytes, int at, int end, boolean ipv4) {
    int flags = WireBytes.u8(bytes, at);
    int action = flags >>> OrfEntry.ACTION_SHIFT;
    if (action >= OrfEntry.Action.REMOVE_ALL.ordinal()) {
      /* REMOVE-ALL is action 2 in RFC 5291, but FRR writes 3. */
      return OrfEntry.removeAll();
    }
    if (end - at < OrfEntry.FIXED_BYTES) {
      return null;
    }
    int length = WireBytes.u8(bytes, at + 7);
    int count = length + 7 >>> 3;
    int most = ipv4 ? Prefix.MAX_LENGTH - Prefix.MAPPED_BITS : Prefix.MAX_LENGTH;
    if (length > most || count > end - at - OrfEntry.FIXED_BYTES) {
      return null;
    }
    return new OrfEntry(
        OrfEntry.Action.values()[action],
        (flags & OrfEntry.DENY_FLAG) != 0,
        WireBytes.u32(bytes, at + 1),
        WireBytes.u8(bytes, at + 5),
        WireBytes.u8(bytes, at + 6),
        PrefixReader.prefix(bytes, at + OrfEntry.FIXED_BYTES, length, ipv4));
  }

  static void encode(RouteRefreshMessage message, WireWriter out) {
    out.u16(message.family().afi()).u8(message.subtype()).u8(message.family().safi());
    Filter filter = message.filter();
    if (filter == null) {
      return;
    }
    out.u8(filter.immediate() ? Filter.IMMEDIATE : Filter.DEFER);
    out.u8(Capability.OutboundRouteFilter.ADDRESS_PREFIX_TYPE);
    int lengthAt = out.size();
    out.u16(0);
    for (OrfEntry entry : filter.entries()) {
      int action = entry.action().ordinal() << OrfEntry.ACTION_SHIFT;
      out.u8(action | (entry.deny() ? OrfEntry.DENY_FLAG : 0));
      if (entry.action() != OrfEntry.Action.REMOVE_ALL) {
        Prefix prefix = entry.prefix();
        out.u32(entry.sequence()).u8(entry.minLength()).u8(entry.maxLength());
        out.prefix(prefix.high(), prefix.low(), prefix.length(), prefix.isIpv4());
      }
    }
    out.setU16(lengthAt, out.size() - lengthAt - 2);
  }
}
