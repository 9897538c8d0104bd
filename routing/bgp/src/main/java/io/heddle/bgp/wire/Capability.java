package io.heddle.bgp.wire;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Capability of a speaker, in OPEN (RFC 5492): code 1, length 1, value. */
public sealed interface Capability {
  int MULTIPROTOCOL = 1;
  int ROUTE_REFRESH = 2;
  int OUTBOUND_ROUTE_FILTER = 3;
  int EXTENDED_NEXT_HOP = 5;
  int EXTENDED_MESSAGE = 6;
  int ROLE = 9;
  int GRACEFUL_RESTART = 64;
  int FOUR_OCTET_AS = 65;
  int ENHANCED_ROUTE_REFRESH = 70;
  int LINK_LOCAL_NEXT_HOP = 77;

  /** Returns the capability's code in IANA's registry. */
  int code();

  /** Support of an address family (RFC 4760 §8). */
  record Multiprotocol(AddressFamily family) implements Capability {
    /**
     * Returns encoded capabilities of families, for the NOTIFICATION to a peer that has none of
     * them.
     */
    public static byte[] bytes(List<AddressFamily> families) {
      WireWriter out = new WireWriter();
      families.forEach(each -> CapabilityCodec.encode(new Multiprotocol(each), out));
      return out.toArray();
    }

    @Override
    public int code() {
      return MULTIPROTOCOL;
    }
  }

  /** Support of route refresh (RFC 2918). */
  record RouteRefresh() implements Capability {
    @Override
    public int code() {
      return ROUTE_REFRESH;
    }
  }

  /** Support of marks at a refresh's begin and end (RFC 7313). */
  record EnhancedRouteRefresh() implements Capability {
    @Override
    public int code() {
      return ENHANCED_ROUTE_REFRESH;
    }
  }

  /** Support of outbound route filters (RFC 5291 §5). */
  record OutboundRouteFilter(List<Offer> offers) implements Capability {
    public static final int ADDRESS_PREFIX_TYPE = 64;
    public static final int RECEIVE = 1;
    public static final int SEND = 2;

    /**
     * @param mode bits: 1 if the speaker accepts filters, 2 if it sends them
     */
    public record Offer(AddressFamily family, int type, int mode) {}

    public OutboundRouteFilter {
      offers = List.copyOf(offers);
    }

    /** Returns whether the speaker accepts address prefix filters for a family. */
    public boolean receivesPrefixFilters(AddressFamily family) {
      return offers.stream()
          .anyMatch(offer ->
              offer.family.equals(family)
                  && offer.type == ADDRESS_PREFIX_TYPE
                  && (offer.mode & RECEIVE) != 0);
    }

    @Override
    public int code() {
      return OUTBOUND_ROUTE_FILTER;
    }
  }

  /** Address families whose routes may have a next hop of another family (RFC 8950). */
  record ExtendedNextHop(List<Encoding> encodings) implements Capability {
    public record Encoding(AddressFamily family, int nextHopAfi) {}

    public ExtendedNextHop {
      encodings = List.copyOf(encodings);
    }

    @Override
    public int code() {
      return EXTENDED_NEXT_HOP;
    }
  }

  /** Support of messages of more than 4096 bytes (RFC 8654). */
  record ExtendedMessage() implements Capability {
    @Override
    public int code() {
      return EXTENDED_MESSAGE;
    }
  }

  /**
   * Role of the speaker (RFC 9234): 0 provider, 1 route server, 2 client of a route server, 3
   * customer, 4 peer.
   */
  record Role(int role) implements Capability {
    @Override
    public int code() {
      return ROLE;
    }
  }

  /**
   * Graceful restart (RFC 4724, RFC 8538).
   *
   * @param restarting whether the speaker has just restarted
   * @param notifications whether graceful restart also applies after a NOTIFICATION
   * @param timeSeconds time for which the peer should keep the speaker's routes, 12 bits
   */
  record GracefulRestart(
      boolean restarting, boolean notifications, int timeSeconds, List<Kept> families)
      implements Capability {
    /**
     * @param forwarding whether forwarding continued while the speaker restarted
     */
    public record Kept(AddressFamily family, boolean forwarding) {}

    public GracefulRestart {
      families = List.copyOf(families);
    }

    public boolean covers(AddressFamily family) {
      return families.stream().anyMatch(kept -> kept.family.equals(family));
    }

    public boolean keptForwarding(AddressFamily family) {
      return families.stream().anyMatch(kept -> kept.family.equals(family) && kept.forwarding);
    }

    @Override
    public int code() {
      return GRACEFUL_RESTART;
    }
  }

  /** Real AS number of the speaker, in four octets (RFC 6793). */
  record FourOctetAs(long autonomousSystem) implements Capability {
    @Override
    public int code() {
      return FOUR_OCTET_AS;
    }
  }

  /** draft-ietf-idr-linklocal-capability: supports a link-local next hop without a global one. */
  record LinkLocalNextHop() implements Capability {
    @Override
    public int code() {
      return LINK_LOCAL_NEXT_HOP;
    }
  }

  /** Unknown capability, or capability whose value has the wrong length for its code. */
  record Unknown(int code, byte[] value) implements Capability {
    @Override
    public boolean equals(Object other) {
      return other instanceof Unknown that && code == that.code && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode() {
      return 31 * code + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
      return "capability " + code + " " + HexFormat.of().formatHex(value);
    }
  }
}
