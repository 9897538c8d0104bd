package io.heddle.bgp.wire;

import io.heddle.bgp.wire.AttributeFault.Treatment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of the path attributes of one UPDATE; malformed ones are treated as in RFC 7606 §7.
 * Single use.
 */
final class AttributeDecoder {
  /**
   * Decoded attributes.
   *
   * @param withdraw whether a fault turns the announced routes into withdrawals
   * @param missing code of a missing mandatory attribute; 0 if none is missing, or if a fault has a
   *     stronger treatment
   * @param ipv4NextHop next hop of the IPv4 routes outside MP_REACH_NLRI; null if absent
   */
  record Result(
      PathAttributes attributes,
      List<AttributeFault> faults,
      boolean withdraw,
      int missing,
      @Nullable NextHop ipv4NextHop) {}

  private static final int CHECKED_FLAGS = PathAttribute.OPTIONAL | PathAttribute.TRANSITIVE;
  private static final int WELL_KNOWN = PathAttribute.TRANSITIVE;
  private static final int OPTIONAL_TRANSITIVE = CHECKED_FLAGS;
  private static final int OPTIONAL_ONLY = PathAttribute.OPTIONAL;

  private static final String AS_ZERO = "AS 0 is reserved (RFC 7607)";

  private final WireOptions options;
  private final byte[] bytes;
  private final List<PathAttribute> attributes = new ArrayList<>();
  private final List<AttributeFault> faults = new ArrayList<>();
  private final long[] seen = new long[4];
  private @Nullable NextHop ipv4NextHop;
  private @Nullable AsPath pathOfFourOctets;
  private PathAttribute.@Nullable Aggregator aggregatorOfFourOctets;

  AttributeDecoder(WireOptions options, byte[] bytes) {
    this.options = options;
    this.bytes = bytes;
  }

  /**
   * Decodes the attributes in {@code bytes} up to {@code end}; the caller has checked every length.
   */
  Result decode(int end) {
    int at = 0;
    while (at < end) {
      int flags = WireBytes.u8(bytes, at);
      int code = WireBytes.u8(bytes, at + 1);
      boolean extended = (flags & PathAttribute.EXTENDED_LENGTH) != 0;
      int length = extended ? WireBytes.u16(bytes, at + 2) : WireBytes.u8(bytes, at + 2);
      int value = at + (extended ? 4 : 3);
      if ((seen[code >>> 6] & 1L << (code & 63)) != 0) {
        discard(code, "a second occurrence; the first one counts");
      } else {
        seen[code >>> 6] |= 1L << (code & 63);
        decodeOne(flags & ~PathAttribute.EXTENDED_LENGTH, code, value, length);
      }
      at = value + length;
    }
    mergePaths();
    boolean withdraw = false;
    for (AttributeFault fault : faults) {
      withdraw |= fault.treatment() == Treatment.WITHDRAW;
    }
    return new Result(
        attributes.isEmpty() ? PathAttributes.EMPTY : new PathAttributes(attributes),
        List.copyOf(faults),
        withdraw,
        withdraw ? 0 : findMissing(),
        ipv4NextHop);
  }

  private int findMissing() {
    boolean origin = false;
    boolean path = false;
    for (PathAttribute each : attributes) {
      origin |= each.code() == PathAttribute.ORIGIN;
      path |= each.code() == PathAttribute.AS_PATH;
    }
    return !origin ? PathAttribute.ORIGIN : path ? 0 : PathAttribute.AS_PATH;
  }

  private void decodeOne(int flags, int code, int at, int length) {
    int expected = expectedFlags(code);
    if (expected >= 0 && (flags & CHECKED_FLAGS) != expected) {
      String why = "flags 0x%02x, not 0x%02x".formatted(flags & CHECKED_FLAGS, expected);
      if (code == PathAttribute.AIGP) {
        discard(code, why);
      } else {
        withdraw(code, why);
      }
      return;
    }
    switch (code) {
      case PathAttribute.ORIGIN -> origin(at, length);
      case PathAttribute.AS_PATH -> path(at, length);
      case PathAttribute.NEXT_HOP -> {
        /*
         * This next hop applies only to IPv4 routes outside MP_REACH_NLRI, which has a next hop of
         * its own.
         */
        if (length == 4) {
          ipv4NextHop = NextHop.ipv4(WireBytes.i32(bytes, at));
        } else {
          withdraw(code, wrongLength(length, "4"));
        }
      }
      case PathAttribute.MULTI_EXIT_DISCRIMINATOR -> {
        if (length == 4) {
          attributes.add(new PathAttribute.MultiExitDiscriminator(WireBytes.u32(bytes, at)));
        } else {
          withdraw(code, wrongLength(length, "4"));
        }
      }
      case PathAttribute.LOCAL_PREFERENCE -> localPreference(at, length);
      case PathAttribute.ATOMIC_AGGREGATE -> {
        if (length == 0) {
          attributes.add(new PathAttribute.AtomicAggregate());
        } else {
          discard(code, wrongLength(length, "0"));
        }
      }
      case PathAttribute.AGGREGATOR -> aggregator(at, length);
      case PathAttribute.COMMUNITIES -> communities(at, length);
      case PathAttribute.EXTENDED_COMMUNITIES -> extendedCommunities(at, length);
      case PathAttribute.LARGE_COMMUNITIES -> largeCommunities(at, length);
      case PathAttribute.ORIGINATOR_ID, PathAttribute.CLUSTER_LIST ->
          reflection(flags, code, at, length);
      case PathAttribute.AS4_PATH, PathAttribute.AS4_AGGREGATOR -> {
        /*
         * Ignored if AS numbers have four octets: a speaker with four-octet numbers must not send
         * these attributes to another such speaker (RFC 6793 §3).
         */
        if (!options.fourOctetAs()) {
          decodeFourOctets(code, at, length);
        }
      }
      case PathAttribute.AIGP -> aigp(at, length);
      default -> {
        if ((flags & PathAttribute.OPTIONAL) == 0) {
          withdraw(code, "an unknown well-known attribute, by its flags 0x%02x".formatted(flags));
        } else {
          unknown(flags, code, at, length);
        }
      }
    }
  }

  private static int expectedFlags(int code) {
    return switch (code) {
      case PathAttribute.ORIGIN,
          PathAttribute.AS_PATH,
          PathAttribute.NEXT_HOP,
          PathAttribute.LOCAL_PREFERENCE,
          PathAttribute.ATOMIC_AGGREGATE ->
          WELL_KNOWN;
      case PathAttribute.MULTI_EXIT_DISCRIMINATOR,
          PathAttribute.ORIGINATOR_ID,
          PathAttribute.CLUSTER_LIST,
          PathAttribute.AIGP ->
          OPTIONAL_ONLY;
      case PathAttribute.AGGREGATOR,
          PathAttribute.COMMUNITIES,
          PathAttribute.EXTENDED_COMMUNITIES,
          PathAttribute.LARGE_COMMUNITIES,
          PathAttribute.AS4_PATH,
          PathAttribute.AS4_AGGREGATOR ->
          OPTIONAL_TRANSITIVE;
      default -> -1;
    };
  }

  private void origin(int at, int length) {
    if (length != 1) {
      withdraw(PathAttribute.ORIGIN, wrongLength(length, "1"));
    } else if (WireBytes.u8(bytes, at) > 2) {
      withdraw(PathAttribute.ORIGIN, "origin " + WireBytes.u8(bytes, at) + " isn't defined");
    } else {
      attributes.add(new PathAttribute.Origin(WireBytes.u8(bytes, at)));
    }
  }

  private void path(int at, int length) {
    AsPath path = segments(at, length, options.fourOctetAs() ? 4 : 2);
    String why =
        path == null ? "its segments don't fill its " + length + " bytes" : invalidReason(path);
    if (path == null || why != null) {
      withdraw(PathAttribute.AS_PATH, String.valueOf(why));
    } else {
      attributes.add(new PathAttribute.Path(path));
    }
  }

  private @Nullable String invalidReason(AsPath path) {
    return path.invalidReason(options.external(), options.acceptAsSets());
  }

  /*
   * Decodes AS4_PATH or AS4_AGGREGATOR. A malformed attribute is discarded. Confederation segments
   * are dropped silently (RFC 6793 §6). A path that is forbidden for other reasons, such as an
   * AS_SET, withdraws the routes.
   */
  private void decodeFourOctets(int code, int at, int length) {
    if (code == PathAttribute.AS4_AGGREGATOR) {
      if (length != 8) {
        discard(code, wrongLength(length, "8"));
      } else if (WireBytes.u32(bytes, at) == 0) {
        discard(code, AS_ZERO);
      } else {
        aggregatorOfFourOctets =
            new PathAttribute.Aggregator(WireBytes.u32(bytes, at), WireBytes.i32(bytes, at + 4));
      }
      return;
    }
    AsPath whole = segments(at, length, 4);
    AsPath path = whole == null ? AsPath.EMPTY : whole.withoutConfederations();
    String why = invalidReason(path);
    if (whole == null || whole.segments().isEmpty()) {
      discard(code, "its segments don't fill its " + length + " bytes");
    } else if (path.contains(0)) {
      discard(code, AS_ZERO);
    } else if (why != null) {
      withdraw(code, why);
    } else {
      pathOfFourOctets = path;
    }
  }

  /**
   * Returns the AS path in these bytes; null if a segment has an unknown type, is empty, or is too
   * long.
   */
  private @Nullable AsPath segments(int start, int length, int asBytes) {
    List<AsPath.Segment> segments = new ArrayList<>();
    int end = start + length;
    int at = start;
    while (at < end) {
      int type = WireBytes.u8(bytes, at);
      int count = end - at < 2 ? 0 : WireBytes.u8(bytes, at + 1);
      at += 2;
      if (type < AsPath.SET
          || type > AsPath.CONFEDERATION_SET
          || count == 0
          || count * asBytes > end - at) {
        return null;
      }
      List<Long> all = new ArrayList<>(count);
      for (int i = 0; i < count; i++, at += asBytes) {
        all.add(asBytes == 4 ? WireBytes.u32(bytes, at) : (long) WireBytes.u16(bytes, at));
      }
      segments.add(new AsPath.Segment(type, all));
    }
    return segments.isEmpty() ? AsPath.EMPTY : new AsPath(segments);
  }

  /*
   * RFC 6793 §4.2.3: merges AS_PATH, which has two-octet numbers, with AS4_PATH. The merged path
   * has the hops that two-octet speakers added, then AS4_PATH. If the AS of AGGREGATOR isn't
   * AS_TRANS, AS4_PATH and AS4_AGGREGATOR are outdated and ignored.
   */
  private void mergePaths() {
    PathAttribute.Aggregator aggregator = aggregatorOfFourOctets;
    for (int i = 0; aggregator != null && i < attributes.size(); i++) {
      if (attributes.get(i) instanceof PathAttribute.Aggregator two) {
        if (two.autonomousSystem() != ExtendedCommunity.AS_TRANS) {
          return;
        }
        attributes.set(i, aggregator);
      }
    }
    AsPath four = pathOfFourOctets;
    if (four == null) {
      return;
    }
    for (int i = 0; i < attributes.size(); i++) {
      if (attributes.get(i) instanceof PathAttribute.Path two && two.path().hops() >= four.hops()) {
        List<AsPath.Segment> merged = new ArrayList<>();
        int toTake = two.path().hops() - four.hops();
        for (AsPath.Segment segment : two.path().segments()) {
          if (toTake > 0) {
            boolean sequence = segment.type() == AsPath.SEQUENCE;
            List<Long> all = segment.autonomousSystems();
            List<Long> taken = sequence ? all.subList(0, Math.min(toTake, all.size())) : all;
            toTake -= sequence ? taken.size() : 1;
            merged.add(new AsPath.Segment(segment.type(), taken));
          }
        }
        merged.addAll(four.segments());
        attributes.set(i, new PathAttribute.Path(new AsPath(merged)));
      }
    }
  }

  private void localPreference(int at, int length) {
    if (options.external()) {
      discard(PathAttribute.LOCAL_PREFERENCE, "a peer of another AS may not send it");
    } else if (length != 4) {
      withdraw(PathAttribute.LOCAL_PREFERENCE, wrongLength(length, "4"));
    } else {
      attributes.add(new PathAttribute.LocalPreference(WireBytes.u32(bytes, at)));
    }
  }

  private void reflection(int flags, int code, int at, int length) {
    if (options.external()) {
      discard(code, "a peer of another AS may not send it");
    } else if (length == 0
        || length % 4 != 0
        || code == PathAttribute.ORIGINATOR_ID && length != 4) {
      withdraw(code, wrongLength(length, "a multiple of 4"));
    } else {
      unknown(flags, code, at, length);
    }
  }

  private void aggregator(int at, int length) {
    int expected = options.fourOctetAs() ? 8 : 6;
    if (length != expected) {
      discard(PathAttribute.AGGREGATOR, wrongLength(length, String.valueOf(expected)));
      return;
    }
    long autonomousSystem =
        options.fourOctetAs() ? WireBytes.u32(bytes, at) : WireBytes.u16(bytes, at);
    if (autonomousSystem == 0) {
      discard(PathAttribute.AGGREGATOR, AS_ZERO);
      return;
    }
    attributes.add(
        new PathAttribute.Aggregator(autonomousSystem, WireBytes.i32(bytes, at + length - 4)));
  }

  private void communities(int at, int length) {
    if (length == 0 || length % 4 != 0) {
      withdraw(PathAttribute.COMMUNITIES, wrongLength(length, "a multiple of 4"));
      return;
    }
    List<Integer> values = new ArrayList<>(length / 4);
    for (int i = 0; i < length; i += 4) {
      values.add(WireBytes.i32(bytes, at + i));
    }
    attributes.add(new PathAttribute.Communities(values));
  }

  private void extendedCommunities(int at, int length) {
    if (length == 0 || length % ExtendedCommunity.BYTES != 0) {
      withdraw(PathAttribute.EXTENDED_COMMUNITIES, wrongLength(length, "a multiple of 8"));
      return;
    }
    List<ExtendedCommunity> values = new ArrayList<>(length / ExtendedCommunity.BYTES);
    for (int i = 0; i < length; i += ExtendedCommunity.BYTES) {
      values.add(ExtendedCommunity.of(WireBytes.i64(bytes, at + i), options.codePoints()));
    }
    attributes.add(new PathAttribute.ExtendedCommunities(values));
  }

  private void largeCommunities(int at, int length) {
    if (length == 0 || length % LargeCommunity.BYTES != 0) {
      withdraw(PathAttribute.LARGE_COMMUNITIES, wrongLength(length, "a multiple of 12"));
      return;
    }
    List<LargeCommunity> values = new ArrayList<>(length / LargeCommunity.BYTES);
    for (int i = 0; i < length; i += LargeCommunity.BYTES) {
      values.add(
          new LargeCommunity(
              WireBytes.u32(bytes, at + i),
              WireBytes.u32(bytes, at + i + 4),
              WireBytes.u32(bytes, at + i + 8)));
    }
    attributes.add(new PathAttribute.LargeCommunities(values));
  }

  /*
   * Decodes AIGP: the first TLV of type 1 counts, and a malformed attribute is discarded (RFC 7311
   * §3.2, RFC 7606).
   */
  private void aigp(int start, int length) {
    if (!options.acceptAigp()) {
      return;
    }
    int end = start + length;
    int at = start;
    long metric = 0;
    boolean found = false;
    while (at < end) {
      int size = end - at < 3 ? 0 : WireBytes.u16(bytes, at + 1);
      int type = WireBytes.u8(bytes, at);
      boolean isMetric = type == PathAttribute.Aigp.TLV_TYPE;
      if (size < 3 || size > end - at || isMetric && size != PathAttribute.Aigp.TLV_BYTES) {
        discard(
            PathAttribute.AIGP,
            "TLV type %s has length %s, but %s bytes are left".formatted(type, size, end - at));
        return;
      }
      if (isMetric && !found) {
        found = true;
        metric = WireBytes.i64(bytes, at + 3);
      }
      at += size;
    }
    if (found) {
      attributes.add(new PathAttribute.Aigp(metric));
    } else {
      discard(PathAttribute.AIGP, "no TLV of type 1 in its " + length + " bytes");
    }
  }

  private void unknown(int flags, int code, int at, int length) {
    attributes.add(
        new PathAttribute.Unknown(flags, code, Arrays.copyOfRange(bytes, at, at + length)));
  }

  private static String wrongLength(int length, String expected) {
    return "length " + length + ", not " + expected;
  }

  private void discard(int code, String why) {
    faults.add(new AttributeFault(Treatment.DISCARD, code, why));
  }

  private void withdraw(int code, String why) {
    faults.add(new AttributeFault(Treatment.WITHDRAW, code, why));
  }
}
