package io.heddle.bgp.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * ROUTE-REFRESH: a request for routes (RFC 2918), a mark before or after the requested routes (RFC
 * 7313), or a filter (RFC 5291).
 *
 * <pre>
 * AFI 2 | sub-type 1 | SAFI 1
 * with a filter, then: when to refresh 1 | per type: type 1, length 2, entries
 * </pre>
 *
 * @param subtype 0 request, 1 begin of routes, 2 end of routes
 * @param filter ORF entries of type 64; null for a message without a filter
 */
public record RouteRefreshMessage(AddressFamily family, int subtype, @Nullable Filter filter)
    implements BgpMessage {
  public static final int REQUEST = 0;
  public static final int BEGIN = 1;
  public static final int END = 2;

  /**
   * @param immediate whether the peer should send the routes at once, or wait for more entries
   */
  public record Filter(boolean immediate, List<OrfEntry> entries) {
    static final int IMMEDIATE = 1;
    static final int DEFER = 2;

    public Filter {
      entries = List.copyOf(entries);
    }
  }

  public static RouteRefreshMessage request(AddressFamily family) {
    return new RouteRefreshMessage(family, REQUEST, null);
  }

  /** Returns a message with ORF entries for one unicast family. */
  public static RouteRefreshMessage filter(
      AddressFamily family, boolean immediate, List<OrfEntry> entries) {
    return new RouteRefreshMessage(family, REQUEST, new Filter(immediate, entries));
  }
}
