package io.heddle.cli.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.addr.Plane;
import io.heddle.cli.operate.BgpSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import io.heddle.routes.Liveness;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Check of the route daemon, its sessions, and the source of weights. */
final class RoutesCheck implements Check {
  private static final Cause GONE =
      new Cause("daemon-gone", "the route daemon ended or hangs: the last weights grow stale");
  private static final Cause SESSION =
      new Cause("session-down", "a BGP session isn't established: its plane's weights are unknown");
  private static final Cause NO_ANSWER =
      new Cause("daemon-mute", "the routes file is published, but the daemon doesn't answer");
  private static final Cause FEWER =
      new Cause(
          "planes-fewer-than-routes",
          "the route daemon has a plane that no address of this host is on");
  private static final Cause NO_ROUTES =
      new Cause(
          "plane-without-routes", "a plane of this host isn't one of the route daemon's planes");
  private static final Cause OVERRIDE =
      new Cause("weights-fixed", "HEDDLE_WEIGHTS is set, so routes are ignored");

  @Override
  public String name() {
    return "routes";
  }

  @Override
  public String summary() {
    return "The route daemon's file and heartbeat, its BGP sessions, the planes of its"
        + " configuration, and the source of the planes' weights.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(
        GONE,
        SESSION,
        NO_ANSWER,
        FEWER,
        NO_ROUTES,
        ConfiguredPlanes.FEWER,
        ConfiguredPlanes.WRONG,
        OVERRIDE);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    Path file = host.places().routes();
    if (file == null) {
      findings.add(new Finding.Ok("HEDDLE_ROUTES=none: all planes have the same weight"));
      return findings;
    }
    new ConfiguredPlanes(host, findings).compare(routes(host, file, findings));
    return findings;
  }

  /*
   * Returns the planes that the daemon has published; null if no daemon runs, or if jobs ignore it.
   */
  private static @Nullable Set<String> routes(Host host, Path file, List<Finding> findings) {
    try (RouteReader reader = RouteReader.open(file, NanoClock.SYSTEM)) {
      if (reader == null) {
        findings.add(
            new Finding.Ok(
                "no route daemon has published "
                    + file
                    + ": weights by "
                    + (host.setting("HEDDLE_WEIGHTS").isEmpty()
                        ? "default, all equal"
                        : "HEDDLE_WEIGHTS")));
        return null;
      }
      return published(host, reader, findings);
    } catch (HeddleException unreadable) {
      findings.add(
          new Finding.Fault(
              GONE, String.valueOf(unreadable.getMessage()), "restart heddle bgp run"));
      return null;
    }
  }

  private static @Nullable Set<String> published(
      Host host, RouteReader reader, List<Finding> findings) {
    Liveness liveness = reader.liveness();
    boolean alive = liveness.state() == Liveness.State.ALIVE;
    if (alive) {
      findings.add(
          new Finding.Ok(
              "%s by %s: %s destinations, planes %s"
                  .formatted(
                      reader.path(),
                      reader.publisher(),
                      reader.entries(),
                      reader.planes().stream().map(plane -> plane.key()).toList())));
      sessions(host, findings);
      compare(host, reader, findings);
    } else {
      findings.add(
          new Finding.Fault(
              GONE,
              "%s: %s"
                  .formatted(
                      reader.path(), liveness.state().name().toLowerCase(java.util.Locale.ROOT)),
              "start heddle bgp run (heddle-bgp.service); check its log"));
    }
    if (!host.setting("HEDDLE_WEIGHTS").isEmpty()) {
      findings.add(
          new Finding.Warning(
              OVERRIDE,
              "HEDDLE_WEIGHTS=" + host.setting("HEDDLE_WEIGHTS") + " beside a route daemon",
              "unset it, so that weights follow the routes"));
    }
    return alive && host.followedRoutes() != null
        ? new TreeSet<>(reader.planes().stream().map(PublishedPlane::key).toList())
        : null;
  }

  /*
   * Compares this host's planes with the daemon's. With HEDDLE_WEIGHTS set, jobs don't use the
   * daemon's planes, so there is nothing to compare.
   */
  private static void compare(Host host, RouteReader reader, List<Finding> findings) {
    if (host.followedRoutes() == null) {
      return;
    }
    List<String> there = reader.planes().stream().map(PublishedPlane::key).toList();
    List<String> here = host.planes().planes().stream().map(Plane::key).toList();
    String both = "the daemon has planes %s, this host %s: ".formatted(there, here);
    List<String> missing = there.stream().filter(key -> !here.contains(key)).toList();
    if (!missing.isEmpty()) {
      findings.add(
          new Finding.Warning(
              FEWER,
              both + String.join(", ", missing) + " has no address here",
              "check the port towards that plane's leaf (ports, addresses), and plane and source of"
                  + " that peer in the daemon's configuration"));
    }
    List<String> unknown = here.stream().filter(key -> !there.contains(key)).toList();
    if (!unknown.isEmpty()) {
      findings.add(
          new Finding.Warning(
              NO_ROUTES,
              both + "no routes for " + String.join(", ", unknown),
              "add a peer for that plane to the daemon's configuration, or exclude its address"
                  + " with HEDDLE_PLANES"));
    }
  }

  private static void sessions(Host host, List<Finding> findings) {
    try {
      JsonNode daemon =
          new ObjectMapper().readTree(BgpSocket.request(host.places().control(), "daemon"));
      for (JsonNode peer : daemon.path("neighbours")) {
        String what =
            "session %s (%s, AS %s, plane %s): %s"
                .formatted(
                    peer.path("name").asText(),
                    peer.path("remote").asText(peer.path("interface_name").asText()),
                    peer.path("as").asText(),
                    peer.path("plane").asText(),
                    peer.path("state").asText());
        findings.add(
            peer.path("state").asText().equalsIgnoreCase("established")
                ? new Finding.Ok(what + ", " + peer.path("routes").asText() + " routes")
                : new Finding.Warning(
                    SESSION,
                    what + "; last: " + peer.path("last_end").asText("nothing"),
                    "heddle bgp show neighbours; check the session at the leaf"));
      }
    } catch (HeddleException | JsonProcessingException unheard) {
      findings.add(
          new Finding.Warning(
              NO_ANSWER, String.valueOf(unheard.getMessage()), "name its socket with --control"));
    }
  }
}
