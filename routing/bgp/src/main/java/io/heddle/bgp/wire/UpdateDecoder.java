package io.heddle.bgp.wire;

import static io.heddle.bgp.wire.NotificationMessage.MALFORMED_ATTRIBUTE_LIST;
import static io.heddle.bgp.wire.NotificationMessage.OPTIONAL_ATTRIBUTE_ERROR;
import static io.heddle.bgp.wire.NotificationMessage.UPDATE_ERROR;

import io.heddle.bgp.wire.AttributeFault.Treatment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Bodies of UPDATE. What is malformed costs the routes or the attribute as RFC 7606 has it; the
 * session ends only where the routes can't be told.
 *
 * <pre>
 * withdrawn length 2 | IPv4 prefixes | attributes' length 2 | attributes | IPv4 prefixes
 * MP_REACH_NLRI     AFI 2 | SAFI 1 | next hop's length 1 | next hop | 0 | prefixes
 * MP_UNREACH_NLRI   AFI 2 | SAFI 1 | prefixes
 * </pre>
 *
 * IPv4 isn't agreed on, so its fields are passed over, as are families that aren't agreed on. IPv6
 * unicast is read here, without an object a route; other families by their codecs. One thread.
 */
final class UpdateDecoder {
  static final int MIN_BODY_BYTES = 4;
  private static final int MP_REACH_FIXED_BYTES = 5;
  private static final int MP_UNREACH_FIXED_BYTES = 3;

  private final WireOptions options;
  private final boolean unicast;
  private final AttributeCache cache = new AttributeCache();

  /* The attributes of one UPDATE without the two that are routes. */
  private final byte[] shared = new byte[BgpMessage.MAX_EXTENDED_BYTES];
  private int sharedBytes;
  private int reachAt;
  private int reachBytes;
  private int unreachAt;
  private int unreachBytes;
  private int skippedFamilies;
  private int ignored;
  private @Nullable String firstIgnored;
  private @Nullable String impossibleNextHop;
  private @Nullable AttributeFault listFault;
  private @Nullable FamilyReader<?> gone;
  private @Nullable FamilyReader<?> come;
  private @Nullable MessageFault fatal;

  UpdateDecoder(WireOptions options) {
    this.options = options;
    this.unicast = options.families().ipv6Unicast();
  }

  Decoded decode(byte[] bytes, int start, int length) {
    int withdrawnBytes = WireBytes.u16(bytes, start);
    if (withdrawnBytes + MIN_BODY_BYTES > length) {
      return broken("%d bytes of withdrawn routes in a body of %d", withdrawnBytes, length);
    }
    int attributesAt = start + 2 + withdrawnBytes + 2;
    int attributeBytes = WireBytes.u16(bytes, attributesAt - 2);
    int left = start + length - attributesAt;
    if (attributeBytes > left) {
      return broken("%d bytes of attributes where %d are left", attributeBytes, left);
    }
    skippedFamilies = 0;
    if (withdrawnBytes > 0 || left > attributeBytes || length == MIN_BODY_BYTES) {
      skippedFamilies++;
    }
    MessageFault fault = walk(bytes, attributesAt, attributesAt + attributeBytes);
    return fault != null ? fault : assemble(bytes);
  }

  /** Finds the attributes' ends, keeps routes and the rest apart. */
  private @Nullable MessageFault walk(byte[] bytes, int start, int end) {
    sharedBytes = 0;
    reachAt = -1;
    unreachAt = -1;
    listFault = null;
    ignored = 0;
    firstIgnored = null;
    impossibleNextHop = null;
    gone = null;
    come = null;
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
          return broken("attribute %d is there twice in %d bytes", code, end - start);
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

  /* RFC 7606 §4: the routes seen so far are withdrawn; where none was seen, they can't be told. */
  private @Nullable MessageFault overrun(int code, int size, int left) {
    if (reachAt < 0 && unreachAt < 0) {
      return broken("attribute %d runs past the end of the attributes, %d bytes", code, left);
    }
    listFault =
        new AttributeFault(
            Treatment.WITHDRAW, code, "length " + size + " in the last " + left + " bytes");
    return null;
  }

  private Decoded assemble(byte[] bytes) {
    AttributeDecoder.Result result = cache.find(shared, sharedBytes, options);
    fatal = null;
    Nlri withdrawn = unreachAt < 0 ? Nlri.EMPTY : withdrawn(bytes);
    NextHop nextHop = null;
    Nlri announced = Nlri.EMPTY;
    if (fatal == null && reachAt >= 0) {
      int nextHopBytes = reachBytes < MP_REACH_FIXED_BYTES ? 0 : WireBytes.u8(bytes, reachAt + 3);
      if (reachBytes < MP_REACH_FIXED_BYTES || nextHopBytes > reachBytes - MP_REACH_FIXED_BYTES) {
        return routesLost("MP_REACH_NLRI of %d bytes ends in its next hop", reachBytes);
      }
      if (isOurs(bytes, reachAt)) {
        if (nextHopBytes != 16 && nextHopBytes != 32) {
          return wrongNextHop(nextHopBytes);
        }
        nextHop = nextHop(bytes, reachAt + 4, nextHopBytes);
        impossibleNextHop = nextHop.impossible();
        int routesAt = reachAt + MP_REACH_FIXED_BYTES + nextHopBytes;
        announced = possible(routes(bytes, routesAt, reachAt + reachBytes));
      } else {
        otherAnnounced(bytes, nextHopBytes);
      }
    }
    if (fatal != null) {
      return fatal;
    }
    return message(result, withdrawn, announced, nextHop);
  }

  private UpdateMessage message(
      AttributeDecoder.Result result, Nlri withdrawn, Nlri announced, @Nullable NextHop nextHop) {
    List<AttributeFault> faults = result.faults();
    boolean withdraw = result.withdraw();
    boolean announces = !announced.isEmpty() || come != null && come.announces();
    int missing = !announces || listFault != null ? 0 : result.missing();
    List<FamilyRoutes<?>> others = gone == null && come == null ? List.of() : others();
    if (firstIgnored != null) {
      faults = new ArrayList<>(faults);
      faults.add(new AttributeFault(Treatment.IGNORE, PathAttribute.MP_REACH_NLRI, firstIgnored));
    }
    if (listFault != null || missing != 0 || impossibleNextHop != null) {
      faults = new ArrayList<>(faults);
      if (listFault != null) {
        faults.add(listFault);
      }
      if (missing != 0) {
        faults.add(new AttributeFault(Treatment.WITHDRAW, missing, "it is missing"));
      }
      if (impossibleNextHop != null) {
        faults.add(
            new AttributeFault(Treatment.WITHDRAW, PathAttribute.MP_REACH_NLRI, impossibleNextHop));
      }
      withdraw = true;
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
            others);
    return withdraw ? message.allWithdrawn(faults) : message;
  }

  /* What the reader of each family has; one reader where both lists are of one family. */
  private List<FamilyRoutes<?>> others() {
    List<FamilyRoutes<?>> others = new ArrayList<>(2);
    if (gone != null) {
      others.add(gone.routes());
    }
    if (come != null && come != gone) {
      others.add(come.routes());
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
    gone = reader;
    judge(
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
      impossibleNextHop = nextHop.impossible();
    }
    FamilyReader<?> reader =
        gone != null && gone.codec() == codec ? gone : new FamilyReader<>(codec);
    come = reader;
    int routesAt = reachAt + MP_REACH_FIXED_BYTES + nextHopBytes;
    judge(reader, reader.announced(bytes, routesAt, reachAt + reachBytes, nextHop));
  }

  private void judge(FamilyReader<?> reader, @Nullable String lost) {
    ignored += reader.takeMalformed();
    if (firstIgnored == null) {
      firstIgnored = reader.firstMalformed();
    }
    if (lost != null) {
      fatal = routesLost("%s: %s", reader.codec().family(), lost);
    }
  }

  private @Nullable FamilyCodec<?> codecOf(byte[] bytes, int at) {
    return options.families().codec(WireBytes.u16(bytes, at), WireBytes.u8(bytes, at + 2));
  }

  private static MessageFault wrongNextHop(int nextHopBytes) {
    return routesLost("MP_REACH_NLRI has a next hop of %d bytes, not 16 or 32", nextHopBytes);
  }

  private boolean isOurs(byte[] bytes, int at) {
    return unicast
        && WireBytes.u16(bytes, at) == AddressFamily.IPV6_UNICAST.afi()
        && WireBytes.u8(bytes, at + 2) == AddressFamily.IPV6_UNICAST.safi();
  }

  private Nlri withdrawn(byte[] bytes) {
    if (unreachBytes < MP_UNREACH_FIXED_BYTES) {
      fatal = routesLost("MP_UNREACH_NLRI of %d bytes has no address family", unreachBytes);
      return Nlri.EMPTY;
    }
    if (!isOurs(bytes, unreachAt)) {
      otherWithdrawn(bytes);
      return Nlri.EMPTY;
    }
    if (reachAt < 0 && unreachBytes == MP_UNREACH_FIXED_BYTES) {
      return Nlri.EMPTY;
    }
    return routes(bytes, unreachAt + MP_UNREACH_FIXED_BYTES, unreachAt + unreachBytes);
  }

  /* A second address that isn't link-local, as old speakers write, is passed over. */
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

  /* RFC 4271 §6.3: a prefix that can be nobody's route is passed over, the others count. */
  private Nlri possible(Nlri announced) {
    for (int i = 0; i < announced.size(); i++) {
      AddressKind kind = AddressKind.of(announced.high(i), announced.low(i), announced.length(i));
      if (kind != AddressKind.UNICAST) {
        if (ignored++ == 0) {
          firstIgnored = announced.prefix(i) + " is " + kind.text();
        }
      }
    }
    return ignored == 0
        ? announced
        : announced.without(
            (high, low, length) -> AddressKind.of(high, low, length) != AddressKind.UNICAST);
  }

  private Nlri routes(byte[] bytes, int start, int end) {
    int count = 0;
    for (int at = start; at < end; count++) {
      int length = WireBytes.u8(bytes, at);
      at += 1 + (length + 7 >>> 3);
      if (length > Prefix.MAX_LENGTH || at > end) {
        fatal = routesLost("a prefix of length %d runs past the end of its attribute", length);
        return Nlri.EMPTY;
      }
    }
    if (count == 0) {
      return Nlri.EMPTY;
    }
    long[] words = new long[2 * count];
    byte[] lengths = new byte[count];
    int at = start;
    for (int i = 0; i < count; i++) {
      int length = WireBytes.u8(bytes, at++);
      int size = length + 7 >>> 3;
      long high;
      long low;
      if (at + 16 <= bytes.length) {
        high = WireBytes.i64(bytes, at);
        low = WireBytes.i64(bytes, at + 8);
      } else {
        high = WireBytes.upperBytes(bytes, at, Math.min(8, size));
        low = size > 8 ? WireBytes.upperBytes(bytes, at + 8, size - 8) : 0;
      }
      words[2 * i] = high & Prefix.highMask(length);
      words[2 * i + 1] = low & Prefix.lowMask(length);
      lengths[i] = (byte) length;
      at += size;
    }
    return new Nlri(words, lengths, count);
  }

  private static MessageFault broken(String format, Object... values) {
    return MessageFault.of(
        UPDATE_ERROR, MALFORMED_ATTRIBUTE_LIST, String.format(Locale.ROOT, format, values));
  }

  private static MessageFault routesLost(String format, Object... values) {
    return MessageFault.of(
        UPDATE_ERROR, OPTIONAL_ATTRIBUTE_ERROR, String.format(Locale.ROOT, format, values));
  }
}
