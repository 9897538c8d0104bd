package io.heddle.cli.operate;

import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.daemon.BgpDaemon;
import io.heddle.bgpstub.daemon.DaemonView;
import io.heddle.bgpstub.daemon.FilterView;
import io.heddle.bgpstub.rib.Route;
import io.heddle.cli.operate.BgpStatus.PlaneToDestination;
import io.heddle.cli.operate.BgpStatus.RouteEntry;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Handler of {@code heddle bgp show} requests. A request is one line, and its answer is one
 * document.
 */
final class BgpRequestHandler {
  private static final int MOST_ROUTES = 1_000_000;

  private final BgpDaemon daemon;
  private final Path routesFile;

  BgpRequestHandler(BgpDaemon daemon, Path routesFile) {
    this.daemon = daemon;
    this.routesFile = routesFile;
  }

  /**
   * Returns the answer to a request, which is one of the documents in {@link BgpStatus}.
   *
   * @throws HeddleException for an unknown or malformed request, and if there is no answer
   */
  Object answer(String request) {
    String[] words = request.strip().split("\\s+");
    try {
      return switch (words[0]) {
        case "daemon" -> BgpStatus.Daemon.of(daemon.view());
        case "routes" -> routes(words);
        case "destination" -> explain(Prefix.of(words[1]));
        default -> throw new HeddleException("this daemon doesn't know the request " + words[0]);
      };
    } catch (IllegalArgumentException | IndexOutOfBoundsException malformed) {
      throw new HeddleException(
          "'" + request + "' is malformed: " + malformed.getMessage(), malformed);
    }
  }

  private BgpStatus.Routes routes(String[] words) {
    String peer = words[1].equals("*") ? null : words[1];
    int most = Math.clamp(Long.parseLong(words[2]), 1, MOST_ROUTES);
    DaemonView view = daemon.view();
    List<String> peers = view.peers().stream().map(each -> each.status().name()).toList();
    if (peer != null && !peers.contains(peer)) {
      throw new HeddleException(
          "there is no peer " + peer + "; peers are " + String.join(", ", peers));
    }
    return new BgpStatus.Routes(
        daemon.routes(peer, most).stream().map(each -> RouteEntry.of(each, view)).toList());
  }

  private BgpStatus.Explanation explain(Prefix destination) {
    List<Route> routes = daemon.explain(destination);
    List<FilterView> filters = daemon.filters(destination);
    DaemonView view = daemon.view();
    List<PlaneToDestination> planes = new ArrayList<>();
    RouteAnswer answer = new RouteAnswer();
    try (RouteReader reader = RouteReader.open(routesFile, NanoClock.SYSTEM)) {
      if (reader == null) {
        throw new HeddleException(
            "no routes are published at " + routesFile + " yet; try again in a few seconds");
      }
      List<PublishedPlane> published = reader.planes();
      if (!reader.resolve(destination.high(), destination.low(), answer)
          || published.size() < answer.planes()) {
        throw new HeddleException("the routes change too fast to be read; try again");
      }
      long total = 0;
      for (int i = 0; i < answer.planes(); i++) {
        total += answer.weight(i);
      }
      for (int i = 0; i < answer.planes(); i++) {
        String key = published.get(i).key();
        List<Route> ofPlane = routes.stream().filter(each -> each.plane().equals(key)).toList();
        List<FilterView> filtersOfPlane =
            filters.stream()
                .filter(each -> each.plane() == null || each.plane().equals(key))
                .toList();
        int length = answer.prefixLength(i);
        planes.add(
            new PlaneToDestination(
                key,
                total == 0 ? 0 : (double) answer.weight(i) / total,
                length < 0
                    ? null
                    : new Prefix(destination.high(), destination.low(), length).toString(),
                explanation(answer, i, ofPlane, total) + filterText(filtersOfPlane),
                ofPlane.stream().map(each -> RouteEntry.of(each, view)).toList(),
                filtersOfPlane));
      }
    }
    return new BgpStatus.Explanation(destination.toString(), planes);
  }

  private static String explanation(RouteAnswer answer, int plane, List<Route> routes, long total) {
    if (routes.isEmpty()) {
      return "carries no traffic: no peer of this plane has a route for it";
    }
    Route route = routes.getFirst();
    String from =
        "%s from %s (AS path %s)"
            .formatted(route.prefix(), route.peer(), route.attributes().asPath());
    String what = answer.reason(plane).text();
    if (!answer.reason(plane).carriesTraffic()) {
      return "carries no traffic: %s, by %s; covering routes of this plane don't count until that is withdrawn"
          .formatted(what, from);
    }
    String figure =
        answer.bandwidthMbps(plane) > 1
            ? "%s Gbit/s, ".formatted(number(answer.bandwidthMbps(plane) / 1000.0))
            : "";
    return "%s%s, by %s%s%s"
        .formatted(
            figure,
            what,
            from,
            answer.isOverOtherPlane(plane)
                ? "; without AIGP, although its peer sends AIGP: the plane's own path is lost, it"
                    + " borrows another plane's"
                : "",
            answer.weight(plane) == 0 && total > 0
                ? "; planes with a bandwidth carry all traffic"
                : "");
  }

  private static String filterText(List<FilterView> filters) {
    StringBuilder text = new StringBuilder();
    for (FilterView each : filters) {
      text.append(
          "; %s filters for us by %s lines, %s"
              .formatted(
                  each.peer(),
                  each.lines(),
                  each.permits()
                      ? "and one of them permits this address"
                      : "and none of them permits this address: no job of this host talks to"
                          + " it"));
    }
    return text.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.3f", value);
  }
}
