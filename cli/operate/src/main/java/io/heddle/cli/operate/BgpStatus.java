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

/** What {@code heddle bgp show} prints, as documents. */
final class BgpStatus {
  private BgpStatus() {}

  /**
   * A plane in the routes file.
   *
   * @param key the plane's key
   * @param source this host's address on it
   * @param rateMbps of the local port; 0 where it isn't known
   * @param via the peer or the colour that makes it
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
   * @param name as the configuration has it
   * @param interfaceName where it is
   * @param remote its address; empty while there is no session
   * @param state of the session, by RFC 4271
   * @param as its number of autonomous system
   * @param plane the key of its plane
   * @param routes that it tells us
   * @param attributeSets different ones among them
   * @param complete whether it has told all it has (End-of-RIB)
   * @param upForMs age of the session; 0 without one
   * @param retryInMs until the next attempt
   * @param idleUntil until when its connections are turned away, after an error that a next try may
   *     well repeat; null where they are taken
   * @param turnedAway its connections that came at the wrong time and were closed
   * @param lastEnd why the last session ended
   * @param filterLines prefixes that we asked it to filter by
   * @param withoutPlane routes whose colour is no plane's
   * @param updates messages with routes that came
   * @param faults malformed attributes, by RFC 7606
   * @param ignored announced prefixes that can be nobody's route: multicast, link-local and the
   *     like
   * @param looped routes that came through our own system
   * @param established sessions so far
   * @param failedAttempts connections that came to nothing
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
      long turnedAway,
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
          status.counters().turnedAway(),
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

    /* By the clock on the wall, to the second, as logs have it. */
    private static @Nullable String idleUntil(long idleForMs) {
      return idleForMs < 0
          ? null
          : Instant.now().plusMillis(idleForMs).truncatedTo(ChronoUnit.SECONDS).toString();
    }
  }

  /**
   * The daemon.
   *
   * @param as our number of autonomous system
   * @param routerId ours
   * @param routesFile what the jobs read
   * @param live whether the file is published
   * @param incomplete whether a full disk keeps routes from the file
   * @param prefixes in the file
   * @param generation grows with each change
   * @param strangers connections from addresses that are no peer's, which were closed
   */
  record Daemon(
      long as,
      String routerId,
      String routesFile,
      boolean live,
      boolean incomplete,
      int prefixes,
      long generation,
      long strangers,
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
          view.strangers(),
          view.planes().stream().map(PlaneEntry::of).toList(),
          view.peers().stream().map(Neighbour::of).toList());
    }
  }

  /**
   * A route as a peer tells it.
   *
   * @param prefix the destinations
   * @param peer who tells it
   * @param nextHop where packets to it go: the peer's address; empty while the session is down
   * @param plane the key of its plane
   * @param says what decides its weight
   * @param bandwidthMbps that weighs; 0 where it isn't known or the plane doesn't reach the prefix
   * @param borrowed whether it goes over another plane's way
   * @param asPath systems on the way
   * @param attributes all, in words
   */
  record RouteEntry(
      String prefix,
      String peer,
      String nextHop,
      String plane,
      String says,
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
   * @param key the plane's key
   * @param share of the bytes, as the weights have it
   * @param prefix that decides; null where none does
   * @param why the sentence for people
   * @param routes that count
   * @param filters what peers that filter for us let through of it
   */
  record PlaneToDestination(
      String key,
      double share,
      @Nullable String prefix,
      String why,
      List<RouteEntry> routes,
      List<FilterView> filters) {}

  /**
   * A destination explained.
   *
   * @param destination the address
   */
  record Explanation(String destination, List<PlaneToDestination> planes) {}

  /** Why there is no answer. */
  record Failure(String error) {}
}
