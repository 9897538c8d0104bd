package io.heddle.bgp.wire;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Path attribute of an UPDATE, except MP_REACH_NLRI and MP_UNREACH_NLRI, which contain the routes.
 *
 * <pre>
 * flags 1 | type 1 | length 1, or 2 with flag 0x10 | value
 * </pre>
 */
public sealed interface PathAttribute {
  int OPTIONAL = 0x80;
  int TRANSITIVE = 0x40;
  int PARTIAL = 0x20;
  int EXTENDED_LENGTH = 0x10;

  int ORIGIN = 1;
  int AS_PATH = 2;
  int NEXT_HOP = 3;
  int MULTI_EXIT_DISCRIMINATOR = 4;
  int LOCAL_PREFERENCE = 5;
  int ATOMIC_AGGREGATE = 6;
  int AGGREGATOR = 7;
  int COMMUNITIES = 8;
  int ORIGINATOR_ID = 9;
  int CLUSTER_LIST = 10;
  int MP_REACH_NLRI = 14;
  int MP_UNREACH_NLRI = 15;
  int EXTENDED_COMMUNITIES = 16;
  int AS4_PATH = 17;
  int AS4_AGGREGATOR = 18;
  int AIGP = 26;
  int LARGE_COMMUNITIES = 32;

  /** Returns the attribute's type code in IANA's registry. */
  int code();

  /** Origin of the route (RFC 4271 §5.1.1): 0 IGP, 1 EGP, 2 incomplete. */
  record Origin(int value) implements PathAttribute {
    public static final Origin IGP = new Origin(0);

    @Override
    public int code() {
      return ORIGIN;
    }

    @Override
    public String toString() {
      return "origin " + (value == 0 ? "IGP" : value == 1 ? "EGP" : "incomplete");
    }
  }

  record Path(AsPath path) implements PathAttribute {
    @Override
    public int code() {
      return AS_PATH;
    }

    @Override
    public String toString() {
      return "AS path " + path;
    }
  }

  record MultiExitDiscriminator(long metric) implements PathAttribute {
    @Override
    public int code() {
      return MULTI_EXIT_DISCRIMINATOR;
    }

    @Override
    public String toString() {
      return "metric " + metric;
    }
  }

  record LocalPreference(long preference) implements PathAttribute {
    @Override
    public int code() {
      return LOCAL_PREFERENCE;
    }

    @Override
    public String toString() {
      return "local preference " + preference;
    }
  }

  record AtomicAggregate() implements PathAttribute {
    @Override
    public int code() {
      return ATOMIC_AGGREGATE;
    }

    @Override
    public String toString() {
      return "atomic aggregate";
    }
  }

  record Aggregator(long autonomousSystem, int routerId) implements PathAttribute {
    @Override
    public int code() {
      return AGGREGATOR;
    }

    @Override
    public String toString() {
      return "aggregated by AS " + autonomousSystem + " " + ExtendedCommunity.dotted(routerId);
    }
  }

  /** Communities of RFC 1997, 32 bits each. */
  record Communities(List<Integer> values) implements PathAttribute {
    public Communities {
      values = List.copyOf(values);
    }

    @Override
    public int code() {
      return COMMUNITIES;
    }

    @Override
    public String toString() {
      return "communities "
          + String.join(
              " ", values.stream().map(each -> (each >>> 16) + ":" + (each & 0xffff)).toList());
    }
  }

  record ExtendedCommunities(List<ExtendedCommunity> values) implements PathAttribute {
    public ExtendedCommunities {
      values = List.copyOf(values);
    }

    @Override
    public int code() {
      return EXTENDED_COMMUNITIES;
    }

    @Override
    public String toString() {
      return String.join(", ", values.stream().map(Object::toString).toList());
    }
  }

  record LargeCommunities(List<LargeCommunity> values) implements PathAttribute {
    public LargeCommunities {
      values = List.copyOf(values);
    }

    @Override
    public int code() {
      return LARGE_COMMUNITIES;
    }

    @Override
    public String toString() {
      return String.join(" ", values.stream().map(LargeCommunity::toString).toList());
    }
  }

  /** Accumulated interior metric (RFC 7311): TLV type 1, length 11, metric 8. */
  record Aigp(long metric) implements PathAttribute {
    static final int TLV_TYPE = 1;
    static final int TLV_BYTES = 11;

    @Override
    public int code() {
      return AIGP;
    }

    @Override
    public String toString() {
      return "AIGP " + metric;
    }
  }

  /**
   * Unknown attribute, kept as received.
   *
   * @param flags attribute flags, without {@link #EXTENDED_LENGTH}
   */
  record Unknown(int flags, int code, byte[] value) implements PathAttribute {

    @Override
    public boolean equals(Object other) {
      return other instanceof Unknown that
          && flags == that.flags
          && code == that.code
          && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode() {
      return 31 * (31 * flags + code) + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
      return "attribute %s flags 0x%02x %s".formatted(code, flags, HexFormat.of().formatHex(value));
    }
  }
}
