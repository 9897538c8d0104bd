package io.heddle.bgpstub.rib;

import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionListener;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import java.net.InetAddress;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Between one peer's session and the routes: takes in what it tells, announces our addresses to it,
 * and keeps the filter that it applies for us. Speaker's thread.
 */
public final class PeerRoutes implements SessionListener {
  private final AdjRibIn routes;
  private final OwnRoutes own;
  private final PeerFilter filter = new PeerFilter();
  /* Families whose first dump isn't over. */
  private final Set<AddressFamily> toEnd = new HashSet<>();
  private @Nullable PeerSession session;
  private @Nullable Negotiated agreed;
  private Set<InetAddress> addresses = Set.of();
  private long rateMbps;
  private Collection<Prefix> wanted = Set.of();

  /**
   * @param fibSuppress whether our host routes carry the FIB-suppress community
   */
  public PeerRoutes(AdjRibIn routes, long localAs, int routerId, boolean fibSuppress) {
    this.routes = routes;
    this.own = new OwnRoutes(new OwnRoutes.Terms(localAs, routerId, fibSuppress));
  }

  public AdjRibIn routes() {
    return routes;
  }

  /** Lines of the filter that the peer has of us; 0 where it takes none. */
  public int filterLines() {
    return filter.lines();
  }

  /** Whether the filter that the peer has of us lets a route to this destination through. */
  public boolean letsThrough(Prefix destination) {
    return filter.lets(destination);
  }

  /** This host's addresses that the peer shall know of. */
  public void setAddresses(Set<InetAddress> now, long mbps) {
    addresses = now;
    rateMbps = mbps;
    tellAddresses();
  }

  /** Whether our host routes carry the FIB-suppress community from now on. */
  public void setFibSuppress(boolean suppress) {
    own.setFibSuppress(suppress);
    tellAddresses();
  }

  private void tellAddresses() {
    PeerSession up = session;
    if (up != null) {
      own.change(addresses, rateMbps).forEach(up::send);
    }
  }

  /** The prefixes that we want to hear of, where the peer filters. */
  public void setWanted(Collection<Prefix> prefixes) {
    boolean had = !wanted.isEmpty();
    wanted = new TreeSet<>(prefixes);
    PeerSession up = session;
    Negotiated terms = agreed;
    if (up == null || terms == null || !terms.filters()) {
      return;
    }
    if (!had || filter.isWorn()) {
      sendWhole(up, terms);
      return;
    }
    List<OrfEntry> lines = filter.change(wanted);
    for (AddressFamily family : terms.filtered()) {
      List<OrfEntry> own = of(family, lines);
      if (!own.isEmpty()) {
        up.sendFilter(family, own);
      }
    }
  }

  private static List<OrfEntry> of(AddressFamily family, List<OrfEntry> lines) {
    return lines.stream().filter(each -> AddressFamily.of(each.prefix()).equals(family)).toList();
  }

  /* Nothing comes before a filter or a request; with nothing to ask for, everything is asked for. */
  private void sendWhole(PeerSession up, Negotiated terms) {
    boolean replaces = filter.lines() > 0;
    List<OrfEntry> lines = filter.anew(wanted);
    for (AddressFamily family : terms.filtered()) {
      List<OrfEntry> own = of(family, lines);
      if (replaces) {
        up.sendDeferredFilter(family, List.of(OrfEntry.removeAll()));
      }
      if (own.isEmpty()) {
        up.requestRefresh(family);
      } else {
        up.sendFilter(family, own);
      }
    }
  }

  @Override
  public void established(PeerSession up, Negotiated negotiated) {
    session = up;
    agreed = negotiated;
    toEnd.clear();
    toEnd.addAll(negotiated.families().unicast());
    own.forget();
    tellAddresses();
    filter.anew(Set.of());
    if (negotiated.filters()) {
      sendWhole(up, negotiated);
    }
  }

  @Override
  public void update(PeerSession up, UpdateMessage update) {
    routes.update(update);
  }

  @Override
  public void endOfRib(PeerSession up, AddressFamily family) {
    toEnd.remove(family);
    routes.setComplete(toEnd.isEmpty());
  }

  @Override
  public void routesBecomeStale(PeerSession up, AddressFamily family) {
    toEnd.add(family);
    routes.markStale(family);
  }

  @Override
  public void dropStaleRoutes(PeerSession up, AddressFamily family) {
    routes.dropStale(family);
  }

  @Override
  public void down(PeerSession up, SessionEnd end) {
    Negotiated terms = agreed;
    session = null;
    agreed = null;
    List<AddressFamily> families = terms == null ? List.of() : terms.families().unicast();
    if (families.stream().noneMatch(end::keeps)) {
      routes.clear();
      return;
    }
    for (AddressFamily family : families) {
      routes.markStale(family);
      if (!end.keeps(family)) {
        routes.dropStale(family);
      }
    }
  }

  @Override
  public void attemptFailed(PeerSession up, SessionEnd end) {
    // The next attempt follows by itself; the session's status has why this one ended.
  }

  /** The peer wants our routes again. */
  public void refresh() {
    own.forget();
    tellAddresses();
  }
}
