package io.heddle.tools;

import io.heddle.bgp.daemon.DaemonView;
import io.heddle.bgp.daemon.FilterView;
import io.heddle.bgp.daemon.PeerView;
import io.heddle.bgp.rib.Route;
import io.heddle.bgp.session.SessionEnd;
import io.heddle.bgp.session.SessionStatus;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What {@code heddle bgp show} prints, as documents. */
final class BgpStatus {
  private BgpStatus() {}

  /** A plane in the routes file. */
  record PlaneEntry(String key, @Nullable String source, long rateMbps, String via) {
    static PlaneEntry of(PublishedPlane plane) {
      return new PlaneEntry(
          plane.key(),
          plane.source() == null ? null : plane.source().getHostAddress(),
          plane.rateMbps(),
          plane.via());
    }
  }

  /** A peer. */
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
      @Nullable String lastEnd,
      int filterLines,
      long withoutPlane,
      long updates,
      long faults,
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
          end == null ? null : end.why(),
          view.filterLines(),
          view.withoutPlane(),
          status.counters().updates(),
          status.counters().attributeFaults(),
          status.counters().looped(),
          status.counters().established(),
          status.counters().failedAttempts());
    }
  }

  /** The daemon. */
  record Daemon(
      long as,
      String routerId,
      String routesFile,
      boolean live,
      boolean incomplete,
      int prefixes,
      long generation,
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
          view.planes().stream().map(PlaneEntry::of).toList(),
          view.peers().stream().map(Neighbour::of).toList());
    }
  }

  /**
   * A route as a peer tells it.
   *
   * @param nextHop where packets to it go: the peer's address; empty while the session is down
   */
  record RouteEntry(
      String prefix,
      String peer,
      String nextHop,
      String plane,
      String says,
      int mbps,
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
          RouteCell.isBorrowed(route.cell()),
          route.attributes().asPath().toString(),
          route.attributes().toString());
    }
  }

  /** Routes of one peer or of all. */
  record Routes(List<RouteEntry> routes) {}

  /**
   * One plane's way to a destination.
   *
   * @param share of the bytes, as the weights have it
   * @param why the sentence for people
   * @param filters what peers that filter for us let through of it
   */
  record PlaneToDestination(
      String key,
      double share,
      @Nullable String prefix,
      String why,
      List<RouteEntry> routes,
      List<FilterView> filters) {}

  /** A destination explained. */
  record Explanation(String destination, List<PlaneToDestination> planes) {}

  /** Why there is no answer. */
  record Failure(String error) {}
}
