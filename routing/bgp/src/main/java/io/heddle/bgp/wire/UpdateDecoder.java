package io.heddle.bgp.wire;

import static io.heddle.bgp.wire.NotificationMessage.INVALID_NETWORK_FIELD;
import static io.heddle.bgp.wire.NotificationMessage.MALFORMED_ATTRIBUTE_LIST;
import static io.heddle.bgp.wire.NotificationMessage.OPTIONAL_ATTRIBUTE_ERROR;
import static io.heddle.bgp.wire.NotificationMessage.UPDATE_ERROR;

import io.heddle.bgp.wire.AttributeFault.Treatment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of UPDATE bodies. After a fault the routes are withdrawn or the attribute is discarded,
 * as in RFC 7606. The session ends only if the routes can't be separated.
 *
 * <pre>
 * withdrawn length 2 | IPv4 prefixes | attributes' length 2 | attributes | IPv4 prefixes
 * MP_REACH_NLRI     AFI 2 | SAFI 1 | next hop's length 1 | next hop | 0 | prefixes
 * MP_UNREACH_NLRI   AFI 2 | SAFI 1 | prefixes
 * </pre>
 *
 * This class reads unicast routes, without an object per route; codecs read other families. IPv4
 * routes are in fields of their own, or in MP_REACH_NLRI with AFI 1 if their next hop is IPv6 (RFC
 * 8950). Families that aren't negotiated are skipped. For one thread.
 */
final class UpdateDecoder {
  static final int MIN_BODY_BYTES = 4;
  private static final int MP_REACH_FIXED_BYTES = 5;
  private static final int MP_UNREACH_FIXED_BYTES = 3;

  private final WireOptions options;
  private final AttributeCache cache = new AttributeCache();

  /* Attributes of one UPDATE without MP_REACH_NLRI and MP_UNREACH_NLRI. */
  private final byte[] shared = new byte[BgpMessage.MAX_EXTENDED_BYTES];
  private int sharedBytes;
  private int reachAt;
  private int reachBytes;
  private int unreachAt;
  private int unreachBytes;
  private int fieldsAt;
  private int fieldsEnd;
  private int skippedFamilies;
  private int ignored;
  private @Nullable String firstIgnored;
  private @Nullable String invalidNextHop;
  private boolean noNextHop;
  private @Nullable AddressFamily endedUnicast;
  private @Nullable AttributeFault listFault;
  private @Nullable FamilyReader<?> withdrawnReader;
  private @Nullable FamilyReader<?> announcedReader;
  private @Nullable MessageFault fatal;

  UpdateDecoder(WireOptions options) {
    this.options = options;
  }

  DecodeResult decode(byte[] bytes, int start, int length) {
    int withdrawnBytes = WireBytes.u16(bytes, start);
    if (withdrawnBytes + MIN_BODY_BYTES > length) {
      return malformedList("%d bytes of withdrawn routes in a body of %d", withdrawnBytes, length);
    }
    int attributesAt = start + 2 + withdrawnBytes + 2;
    int attributeBytes = WireBytes.u16(bytes, attributesAt - 2);
    int left = start + length - attributesAt;
    if (attributeBytes > left) {
      return malformedList("%d bytes of attributes where %d are left", attributeBytes, left);
    }
    skippedFamilies = 0;
    fieldsAt = attributesAt + attributeBytes;
    fieldsEnd = start + length;
    Nlri withdrawn = Nlri.EMPTY;
    if (options.families().ipv4Unicast()) {
      if (length == MIN_BODY_BYTES) {
        return UpdateMessage.endOfRibFor(AddressFamily.IPV4_UNICAST);
      }
      Nlri read = PrefixReader.read(bytes, start + 2, start + 2 + withdrawnBytes, true);
      if (read == null) {
        return unreadableField("withdrawn");
      }
      withdrawn = read;
    } else if (withdrawnBytes > 0 || left > attributeBytes || length == MIN_BODY_BYTES) {
      skippedFamilies++;
      fieldsAt = fieldsEnd;
    }
    MessageFault fault = walk(bytes, attributesAt, attributesAt + attributeBytes);
    return fault != null ? fault : assemble(bytes, withdrawn);
  }

  /**
   * Checks the attributes' lengths, finds the two attributes that contain routes, and copies the
   * others to {@link #shared}.
   */
  private @Nullable MessageFault walk(byte[] bytes, int start, int end) {
    sharedBytes = 0;
    reachAt = -1;
    unreachAt = -1;
    listFault = null;
    ignored = 0;
    firstIgnored = null;
    invalidNextHop = null;
    noNextHop = false;
    endedUnicast = null;
    withdrawnReader = null;
    announcedReader = null;
    int at = start;
    while (at < end) {
      int flags = WireBytes.u8(bytes, at);
      int header = (flags & PathAttribute.EXTENDED_LENGTH) != 0 ? 4 : 3;
      int code = end - at < 2 ? 0 : WireBytes.u8(bytes, at + 1);
      int size = -1;
      if (end - at >= header) {
        size = header == 4 ? WireBytes.u16(bytes, at + 2) : WireBytes.u8(bytes, at + 2);
      }
      if (size < 0 || size > end - at - header) {
        return overrun(code, size, end - at);
      }
      if (code == PathAttribute.MP_REACH_NLRI || code == PathAttribute.MP_UNREACH_NLRI) {
        boolean reach = code == PathAttribute.MP_REACH_NLRI;
        if ((reach ? reachAt : unreachAt) >= 0) {
          return malformedList("attribute %d occurs twice in %d bytes", code, end - start);
        }
        if (reach) {
          reachAt = at + header;
          reachBytes = size;
        } else {
          unreachAt = at + header;
          unreachBytes = size;
        }
        if ((flags & (PathAttribute.OPTIONAL | PathAttribute.TRANSITIVE))
            != PathAttribute.OPTIONAL) {
          listFault =
              new AttributeFault(
                  Treatment.WITHDRAW, code, "flags 0x%02x, not 0x80".formatted(flags));
        }
      } else {
        System.arraycopy(bytes, at, shared, sharedBytes, header + size);
        sharedBytes += header + size;
      }
      at += header + size;
    }
    return null;
  }

  /*
   * Handles an attribute that runs past the end (RFC 7606 §4): the routes found before it are
   * withdrawn. If there are none, the message is malformed.
   */
  private @Nullable MessageFault overrun(int code, int size, int left) {
    if (reachAt < 0 && unreachAt < 0) {
      return malformedList(
          "attribute %d runs past the end of the attributes, %d bytes", code, left);
    }
    listFault =
        new AttributeFault(
            Treatment.WITHDRAW, code, "length " + size + " in the last " + left + " bytes");
    return null;
  }

  private DecodeResult assemble(byte[] bytes, Nlri withdrawnIpv4) {
    AttributeDecoder.Result result = cache.find(shared, sharedBytes, options);
    fatal = null;
    Nlri withdrawn = unreachAt < 0 ? withdrawnIpv4 : withdrawnIpv4.plus(withdrawn(bytes));
    NextHop nextHop = null;
    Nlri announced = Nlri.EMPTY;
    if (fatal == null && reachAt >= 0) {
      int nextHopBytes = reachBytes < MP_REACH_FIXED_BYTES ? 0 : WireBytes.u8(bytes, reachAt + 3);
      if (reachBytes < MP_REACH_FIXED_BYTES || nextHopBytes > reachBytes - MP_REACH_FIXED_BYTES) {
        return unreadableRoutes("MP_REACH_NLRI of %d bytes ends in its next hop", reachBytes);
      }
      AddressFamily family = unicastAt(bytes, reachAt);
      if (family != null) {
        boolean ipv4 = family.equals(AddressFamily.IPV4_UNICAST);
        boolean fourBytes = ipv4 && nextHopBytes == Integer.BYTES;
        if (nextHopBytes != 16 && nextHopBytes != 32 && !fourBytes) {
          return wrongNextHop(nextHopBytes);
        }
        nextHop =
            fourBytes
                ? NextHop.ipv4(WireBytes.i32(bytes, reachAt + 4))
                : nextHop(bytes, reachAt + 4, nextHopBytes);
        invalidNextHop = fourBytes ? nextHop.invalidIpv4Reason() : nextHop.invalidReason();
        int routesAt = reachAt + MP_REACH_FIXED_BYTES + nextHopBytes;
        announced = validRoutes(routes(bytes, routesAt, reachAt + reachBytes, ipv4), ipv4);
      } else {
        otherAnnounced(bytes, nextHopBytes);
      }
    }
    if (fatal == null && fieldsAt < fieldsEnd) {
      Nlri fields = PrefixReader.read(bytes, fieldsAt, fieldsEnd, true);
      if (fields == null) {
        return unreadableField("announced");
      }
      announced = announced.plus(validRoutes(fields, true));
      nextHop = nextHop == null ? ipv4NextHop(result) : nextHop;
    }
    if (fatal != null) {
      return fatal;
    }
    return message(result, withdrawn, announced, nextHop);
  }

  /*
   * Returns the next hop of IPv4 routes outside MP_REACH_NLRI (RFC 4271 §5.1.3). Null if it is
   * missing or malformed; a malformed one is reported already.
   */
  private @Nullable NextHop ipv4NextHop(AttributeDecoder.Result result) {
    NextHop nextHop = result.ipv4NextHop();
    if (nextHop != null) {
      invalidNextHop = nextHop.invalidIpv4Reason();
    } else if (!result.withdraw()) {
      noNextHop = true;
    }
    return nextHop;
  }

  private UpdateMessage message(
      AttributeDecoder.Result result, Nlri withdrawn, Nlri announced, @Nullable NextHop nextHop) {
    List<AttributeFault> faults = result.faults();
    boolean withdraw = result.withdraw();
    boolean announces =
        !announced.isEmpty() || announcedReader != null && announcedReader.hasAnnounced();
    int missing = !announces || listFault != null ? 0 : result.missing();
    if (missing == 0 && noNextHop && listFault == null) {
      missing = PathAttribute.NEXT_HOP;
    }
    List<FamilyRoutes<?>> others =
        withdrawnReader == null && announcedReader == null ? List.of() : otherFamilies();
    if (firstIgnored != null) {
      faults = new ArrayList<>(faults);
      faults.add(new AttributeFault(Treatment.IGNORE, PathAttribute.MP_REACH_NLRI, firstIgnored));
    }
    if (listFault != null || missing != 0 || invalidNextHop != null) {
      faults = new ArrayList<>(faults);
      if (listFault != null) {
        faults.add(listFault);
      }
      if (missing != 0) {
        faults.add(new AttributeFault(Treatment.WITHDRAW, missing, "it is missing"));
      }
      if (invalidNextHop != null) {
        faults.add(
            new AttributeFault(
                Treatment.WITHDRAW,
                reachAt < 0 ? PathAttribute.NEXT_HOP : PathAttribute.MP_REACH_NLRI,
                invalidNextHop));
      }
      withdraw = true;
    }
    AddressFamily end = announces || !faults.isEmpty() ? null : endOfRib(result, withdrawn);
    if (end != null) {
      return UpdateMessage.endOfRibFor(end);
    }
    UpdateMessage message =
        new UpdateMessage(
            withdrawn,
            announced,
            result.attributes(),
            nextHop,
            faults,
            ignored,
            skippedFamilies,
            others,
            null);
    return withdraw ? message.allWithdrawn(faults) : message;
  }

  /* Returns the family of an MP_UNREACH_NLRI without routes, if the UPDATE has nothing else. */
  private @Nullable AddressFamily endOfRib(AttributeDecoder.Result result, Nlri withdrawn) {
    boolean empty =
        withdrawn.isEmpty()
            && skippedFamilies == 0
            && reachAt < 0
            && unreachAt >= 0
            && result.attributes().isEmpty();
    if (!empty) {
      return null;
    }
    return withdrawnReader == null
        ? endedUnicast
        : withdrawnReader.routes().isEmpty() ? withdrawnReader.codec().family() : null;
  }

  /*
   * Returns the routes of families other than unicast. If withdrawn and announced routes are of the
   * same family, one reader reads both.
   */
  private List<FamilyRoutes<?>> otherFamilies() {
    List<FamilyRoutes<?>> others = new ArrayList<>(2);
    if (withdrawnReader != null) {
      others.add(withdrawnReader.routes());
    }
    if (announcedReader != null && announcedReader != withdrawnReader) {
      others.add(announcedReader.routes());
    }
    return others;
  }

  private void otherWithdrawn(byte[] bytes) {
    FamilyCodec<?> codec = codecOf(bytes, unreachAt);
    if (codec == null) {
      skippedFamilies++;
      return;
    }
    FamilyReader<?> reader = new FamilyReader<>(codec);
    withdrawnReader = reader;
    countMalformed(
        reader,
        reader.withdrawn(bytes, unreachAt + MP_UNREACH_FIXED_BYTES, unreachAt + unreachBytes));
  }

  private void otherAnnounced(byte[] bytes, int nextHopBytes) {
    FamilyCodec<?> codec = codecOf(bytes, reachAt);
    if (codec == null) {
      skippedFamilies++;
      return;
    }
    NextHop nextHop = null;
    if (codec.hasNextHop()) {
      if (nextHopBytes != 16 && nextHopBytes != 32) {
        fatal = wrongNextHop(nextHopBytes);
        return;
      }
      nextHop = nextHop(bytes, reachAt + 4, nextHopBytes);
      invalidNextHop = nextHop.invalidReason();
    }
    FamilyReader<?> reader =
        withdrawnReader != null && withdrawnReader.codec() == codec
            ? withdrawnReader
            : new FamilyReader<>(codec);
    announcedReader = reader;
    int routesAt = reachAt + MP_REACH_FIXED_BYTES + nextHopBytes;
    countMalformed(reader, reader.announced(bytes, routesAt, reachAt + reachBytes, nextHop));
  }

  private void countMalformed(FamilyReader<?> reader, @Nullable String lost) {
    ignored += reader.takeMalformed();
    if (firstIgnored == null) {
      firstIgnored = reader.firstMalformed();
    }
    if (lost != null) {
      fatal = unreadableRoutes("%s: %s", reader.codec().family(), lost);
    }
  }

  private @Nullable FamilyCodec<?> codecOf(byte[] bytes, int at) {
    return options.families().codec(WireBytes.u16(bytes, at), WireBytes.u8(bytes, at + 2));
  }

  private static MessageFault wrongNextHop(int nextHopBytes) {
    return unreadableRoutes("MP_REACH_NLRI has a next hop of %d bytes, not 16 or 32", nextHopBytes);
  }

  /*
   * Returns the unicast family whose AFI and SAFI are at this offset; null for any other family, or
   * if it wasn't negotiated.
   */
  private @Nullable AddressFamily unicastAt(byte[] bytes, int at) {
    AddressFamily family = new AddressFamily(WireBytes.u16(bytes, at), WireBytes.u8(bytes, at + 2));
    return family.isUnicast() && options.families().has(family) ? family : null;
  }

  private Nlri withdrawn(byte[] bytes) {
    if (unreachBytes < MP_UNREACH_FIXED_BYTES) {
      fatal = unreadableRoutes("MP_UNREACH_NLRI of %d bytes has no address family", unreachBytes);
      return Nlri.EMPTY;
    }
    AddressFamily family = unicastAt(bytes, unreachAt);
    if (family == null) {
      otherWithdrawn(bytes);
      return Nlri.EMPTY;
    }
    endedUnicast = family;
    return routes(
        bytes,
        unreachAt + MP_UNREACH_FIXED_BYTES,
        unreachAt + unreachBytes,
        family.equals(AddressFamily.IPV4_UNICAST));
  }

  /*
   * Reads a next hop of one or two addresses. Ignores a second address that isn't link-local; old
   * speakers send such addresses.
   */
  private static NextHop nextHop(byte[] bytes, int at, int size) {
    long linkHigh = size == 32 ? WireBytes.i64(bytes, at + 16) : 0;
    long linkLow = size == 32 ? WireBytes.i64(bytes, at + 24) : 0;
    boolean link = AddressKind.of(linkHigh, linkLow, Prefix.MAX_LENGTH) == AddressKind.LINK_LOCAL;
    return new NextHop(
        WireBytes.i64(bytes, at),
        WireBytes.i64(bytes, at + 8),
        link ? linkHigh : 0,
        link ? linkLow : 0);
  }

  /* RFC 4271 §6.3: returns the prefixes without those that can't be routed, which are ignored. */
  private Nlri validRoutes(Nlri announced, boolean ipv4) {
    int before = ignored;
    for (int i = 0; i < announced.size(); i++) {
      AddressKind kind =
          AddressKind.of(announced.high(i), announced.low(i), announced.length(i), ipv4);
      if (kind != AddressKind.UNICAST) {
        if (ignored++ == 0) {
          firstIgnored = announced.prefix(i) + " is " + kind.text();
        }
      }
    }
    return ignored == before
        ? announced
        : announced.without(
            (high, low, length) -> AddressKind.of(high, low, length, ipv4) != AddressKind.UNICAST);
  }

  private Nlri routes(byte[] bytes, int start, int end, boolean ipv4) {
    Nlri read = PrefixReader.read(bytes, start, end, ipv4);
    if (read == null) {
      fatal = unreadableRoutes("a prefix is longer than an address, or than its attribute");
      return Nlri.EMPTY;
    }
    return read;
  }

  /*
   * RFC 7606 §5.3: the session ends if the IPv4 routes outside MP_REACH_NLRI and MP_UNREACH_NLRI
   * can't be separated.
   */
  private static MessageFault unreadableField(String which) {
    return MessageFault.of(
        UPDATE_ERROR,
        INVALID_NETWORK_FIELD,
        "a prefix of the %s IPv4 routes is longer than an address, or than its field"
            .formatted(which));
  }

  private static MessageFault malformedList(String format, Object... values) {
    return MessageFault.of(
        UPDATE_ERROR, MALFORMED_ATTRIBUTE_LIST, String.format(Locale.ROOT, format, values));
  }

  private static MessageFault unreadableRoutes(String format, Object... values) {
    return MessageFault.of(
        UPDATE_ERROR, OPTIONAL_ATTRIBUTE_ERROR, String.format(Locale.ROOT, format, values));
  }
}
