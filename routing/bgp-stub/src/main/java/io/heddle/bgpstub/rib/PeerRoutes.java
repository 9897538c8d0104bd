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
 * Listener of one peer's session: it stores the peer's routes, announces our addresses to the peer,
 * and keeps the peer's filter up to date. Used by the BGP speaker's thread only.
 */
public final class PeerRoutes implements SessionListener {
  private final AdjRibIn routes;
  private final OwnRoutes own;
  private final PeerFilter filter = new PeerFilter();
  /* Address families whose End-of-RIB hasn't arrived yet. */
  private final Set<AddressFamily> awaitingEndOfRib = new HashSet<>();
  private @Nullable PeerSession session;
  private @Nullable Negotiated agreed;
  private Set<InetAddress> addresses = Set.of();
  private long rateMbps;
  private Collection<Prefix> wantedPrefixes = Set.of();

  /**
   * @param fibSuppress whether our host routes carry the FIB-suppress community
   */
  public PeerRoutes(AdjRibIn routes, long localAs, int routerId, boolean fibSuppress) {
    this.routes = routes;
    this.own = new OwnRoutes(new OwnRoutes.CommonAttributes(localAs, routerId, fibSuppress));
  }

  public AdjRibIn routes() {
    return routes;
  }

  /**
   * Returns the number of lines of the filter that we sent to the peer; 0 if the peer takes no
   * filter.
   */
  public int filterLines() {
    return filter.lines();
  }

  /** Returns whether the filter that we sent to the peer permits a route to this destination. */
  public boolean permits(Prefix destination) {
    return filter.permits(destination);
  }

  /** Sets this host's addresses to announce to the peer. */
  public void setAddresses(Set<InetAddress> now, long mbps) {
    addresses = now;
    rateMbps = mbps;
    announceAddresses();
  }

  /** Sets whether our host routes carry the FIB-suppress community. */
  public void setFibSuppress(boolean suppress) {
    own.setFibSuppress(suppress);
    announceAddresses();
  }

  private void announceAddresses() {
    PeerSession up = session;
    if (up != null) {
      own.change(addresses, rateMbps).forEach(up::send);
    }
  }

  /** Sets the prefixes that the peer's filter must permit. */
  public void setWanted(Collection<Prefix> prefixes) {
    boolean had = !wantedPrefixes.isEmpty();
    wantedPrefixes = new TreeSet<>(prefixes);
    PeerSession up = session;
    Negotiated terms = agreed;
    if (up == null || terms == null || !terms.hasFilters()) {
      return;
    }
    if (!had || filter.needsRebuild()) {
      sendFullFilter(up, terms);
      return;
    }
    List<OrfEntry> lines = filter.update(wantedPrefixes);
    for (AddressFamily family : terms.filtered()) {
      List<OrfEntry> own = ofFamily(family, lines);
      if (!own.isEmpty()) {
        up.sendFilter(family, own);
      }
    }
  }

  private static List<OrfEntry> ofFamily(AddressFamily family, List<OrfEntry> lines) {
    return lines.stream().filter(each -> AddressFamily.of(each.prefix()).equals(family)).toList();
  }

  /*
   * Sends the whole filter. If no prefix of a family is wanted, requests all routes of the family
   * instead, since the peer sends no routes before it has received a filter or a request.
   */
  private void sendFullFilter(PeerSession up, Negotiated terms) {
    boolean replaces = filter.lines() > 0;
    List<OrfEntry> lines = filter.rebuild(wantedPrefixes);
    for (AddressFamily family : terms.filtered()) {
      List<OrfEntry> own = ofFamily(family, lines);
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
    awaitingEndOfRib.clear();
    awaitingEndOfRib.addAll(negotiated.families().unicast());
    own.forget();
    announceAddresses();
    filter.rebuild(Set.of());
    if (negotiated.hasFilters()) {
      sendFullFilter(up, negotiated);
    }
  }

  @Override
  public void update(PeerSession up, UpdateMessage update) {
    routes.update(update);
  }

  @Override
  public void endOfRib(PeerSession up, AddressFamily family) {
    awaitingEndOfRib.remove(family);
    routes.setComplete(awaitingEndOfRib.isEmpty());
  }

  @Override
  public void markRoutesStale(PeerSession up, AddressFamily family) {
    awaitingEndOfRib.add(family);
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
    if (families.stream().noneMatch(end::keepsRoutesOf)) {
      routes.clear();
      return;
    }
    for (AddressFamily family : families) {
      routes.markStale(family);
      if (!end.keepsRoutesOf(family)) {
        routes.dropStale(family);
      }
    }
  }

  @Override
  public void attemptFailed(PeerSession up, SessionEnd end) {
    // The session retries; its status shows the reason for this failure.
  }

  /** Sends our routes again, on the peer's request. */
  public void refresh() {
    own.forget();
    announceAddresses();
  }
}
