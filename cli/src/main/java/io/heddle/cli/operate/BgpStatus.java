package io.heddle.cli.operate;

import io.heddle.addr.AddressText;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionStatus;
import io.heddle.bgpstub.daemon.DaemonView;
import io.heddle.bgpstub.daemon.FilterView;
import io.heddle.bgpstub.daemon.PeerView;
import io.heddle.bgpstub.rib.Route;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Documents that {@code heddle bgp show} prints. */
final class BgpStatus {
  private BgpStatus() {}

  /**
   * A plane in the routes file.
   *
   * @param key the plane's key
   * @param source this host's address on the plane
   * @param rateMbps rate of the local port in Mbit/s; 0 if unknown
   * @param via the peer or the colour that defines the plane
   */
  record PlaneEntry(String key, @Nullable String source, long rateMbps, String via) {
    static PlaneEntry of(PublishedPlane plane) {
      return new PlaneEntry(
          plane.key(),
          plane.source() == null ? null : AddressText.of(plane.source()),
          plane.rateMbps(),
          plane.via());
    }
  }

  /**
   * A peer.
   *
   * @param name name of the peer in the configuration
   * @param interfaceName interface towards the peer
   * @param remote address of the peer; empty while it is unknown
   * @param state state of the session, by RFC 4271
   * @param as AS number of the peer
   * @param plane key of the peer's plane
   * @param routes routes received from the peer
   * @param attributeSets distinct attribute sets of these routes
   * @param complete whether the peer has sent all its routes since the session's start (End-of-RIB)
   * @param upForMs age of the session; negative without one
   * @param retryInMs time until the next attempt to connect
   * @param idleUntil end of the idle hold time, in which the peer's connections are rejected after
   *     an error that may repeat; null if they are accepted
   * @param rejectedConnections connections of the peer that were rejected, in the idle hold time or
   *     beside a session
   * @param lastEnd why the last session ended
   * @param filterLines number of prefixes in the outbound route filter (ORF) that this daemon has
   *     sent to the peer
   * @param withoutPlane routes that belong to no plane, for lack of a colour
   * @param updates received UPDATE messages
   * @param faults malformed attributes and prefixes, handled by RFC 7606
   * @param ignored announced prefixes that can't be routed: multicast, link-local and the like
   * @param looped routes whose AS path has our own AS
   * @param established number of sessions so far
   * @param failedAttempts connections that ended before a session was established
   */
  record Neighbour(
      String name,
      String interfaceName,
      String remote,
      String state,
      long as,
      String plane,
      int routes,
      int attributeSets,
      boolean complete,
      long upForMs,
      long retryInMs,
      @Nullable String idleUntil,
      long rejectedConnections,
      @Nullable String lastEnd,
      int filterLines,
      long withoutPlane,
      long updates,
      long faults,
      long ignored,
      long looped,
      long established,
      long failedAttempts) {
    static Neighbour of(PeerView view) {
      SessionStatus status = view.status();
      SessionEnd end = status.lastEnd();
      return new Neighbour(
          status.name(),
          view.interfaceName(),
          status.remote(),
          status.state().name().toLowerCase(Locale.ROOT),
          status.negotiated() == null ? view.configuredAs() : status.negotiated().peerAs(),
          view.plane(),
          view.routes(),
          view.attributeSets(),
          view.complete(),
          status.upForMs(),
          status.retryInMs(),
          idleUntil(status.idleForMs()),
          status.counters().rejected(),
          end == null ? null : end.why(),
          view.filterLines(),
          view.withoutPlane(),
          status.counters().updates(),
          status.counters().attributeFaults(),
          status.counters().ignored(),
          status.counters().looped(),
          status.counters().established(),
          status.counters().failedAttempts());
    }

    /* Returns the end of the idle hold time, by the wall clock, to the second. */
    private static @Nullable String idleUntil(long idleForMs) {
      return idleForMs < 0
          ? null
          : Instant.now().plusMillis(idleForMs).truncatedTo(ChronoUnit.SECONDS).toString();
    }
  }

  /**
   * The daemon.
   *
   * @param as the daemon's AS number
   * @param routerId the daemon's router ID
   * @param routesFile the file that jobs read
   * @param published whether the file is published
   * @param incomplete whether a full disk keeps routes from the file
   * @param prefixes number of prefixes in the file
   * @param generation number that grows with each change of the file
   * @param unknownPeers connections from addresses of no peer, which were closed
   */
  record Daemon(
      long as,
      String routerId,
      String routesFile,
      boolean published,
      boolean incomplete,
      int prefixes,
      long generation,
      long unknownPeers,
      List<PlaneEntry> planes,
      List<Neighbour> neighbours) {
    static Daemon of(DaemonView view) {
      return new Daemon(
          view.as(),
          view.routerId(),
          view.publish(),
          view.live(),
          view.incomplete(),
          view.entries(),
          view.generation(),
          view.unknownPeers(),
          view.planes().stream().map(PlaneEntry::of).toList(),
          view.peers().stream().map(Neighbour::of).toList());
    }
  }

  /**
   * A route as received from a peer.
   *
   * @param prefix prefix of the destinations
   * @param peer peer that announced the route
   * @param nextHop next hop of packets on the route: the peer's address; empty while it is unknown
   * @param plane key of the route's plane
   * @param weightAttributes attributes that determine the route's weight, in words
   * @param bandwidthMbps bandwidth used as the route's weight; 0 if unknown or if the plane doesn't
   *     reach the prefix
   * @param borrowed whether the route uses another plane's path
   * @param asPath AS path of the route
   * @param attributes all path attributes, in words
   */
  record RouteEntry(
      String prefix,
      String peer,
      String nextHop,
      String plane,
      String weightAttributes,
      int bandwidthMbps,
      boolean borrowed,
      String asPath,
      String attributes) {
    static RouteEntry of(Route route, DaemonView daemon) {
      return new RouteEntry(
          route.prefix().toString(),
          route.peer(),
          daemon.peers().stream()
              .map(PeerView::status)
              .filter(each -> each.name().equals(route.peer()))
              .map(SessionStatus::remote)
              .findFirst()
              .orElse(""),
          route.plane(),
          RouteCell.reason(route.cell()).text(),
          RouteCell.weight(route.cell()),
          RouteCell.isOverOtherPlane(route.cell()),
          route.attributes().asPath().toString(),
          route.attributes().toString());
    }
  }

  /** Routes of one peer or of all peers. */
  record Routes(List<RouteEntry> routes) {}

  /**
   * One plane's path to a destination.
   *
   * @param key the plane's key
   * @param share share of the bytes that the weights give the plane
   * @param prefix longest matching prefix; null if none matches
   * @param why reason for the share, as a sentence
   * @param routes routes of the prefix on this plane
   * @param filters outbound route filters of the plane's peers, and whether they permit the
   *     destination
   */
  record PlaneToDestination(
      String key,
      double share,
      @Nullable String prefix,
      String why,
      List<RouteEntry> routes,
      List<FilterView> filters) {}

  /**
   * An explained destination.
   *
   * @param destination address of the destination
   */
  record Explanation(String destination, List<PlaneToDestination> planes) {}
}
