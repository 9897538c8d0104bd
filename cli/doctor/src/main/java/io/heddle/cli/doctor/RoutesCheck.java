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

/** The route daemon, its sessions, and where weights come from. */
final class RoutesCheck implements Check {
  private static final Cause GONE =
      new Cause("daemon-gone", "the route daemon ended or is silent: the last weights get old");
  private static final Cause SESSION =
      new Cause("session-down", "a BGP session isn't established: its plane's weights are unknown");
  private static final Cause UNHEARD =
      new Cause("daemon-mute", "the routes file is published, but the daemon can't be asked");
  private static final Cause FEWER =
      new Cause(
          "planes-fewer-than-routes",
          "the route daemon has a plane that no address of this host is on");
  private static final Cause UNWEIGHED =
      new Cause(
          "plane-without-routes", "a plane of this host isn't one of the route daemon's planes");
  private static final Cause OVERRIDE =
      new Cause("weights-fixed", "HEDDLE_WEIGHTS is set, so that routes are not looked at");

  @Override
  public String name() {
    return "routes";
  }

  @Override
  public String looksAt() {
    return "The route daemon's file and its sign of life, its BGP sessions, the planes of its"
        + " configuration, and what decides the weights of planes.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(
        GONE,
        SESSION,
        UNHEARD,
        FEWER,
        UNWEIGHED,
        ConfiguredPlanes.FEWER,
        ConfiguredPlanes.WRONG,
        OVERRIDE);
  }

  @Override
  public List<Finding> look(Host host) {
    List<Finding> findings = new ArrayList<>();
    Path file = host.places().routes();
    if (file == null) {
      findings.add(new Finding.Ok("HEDDLE_ROUTES=none: all planes weigh the same"));
      return findings;
    }
    new ConfiguredPlanes(host, findings).look(routes(host, file, findings));
    return findings;
  }

  /* The planes that the daemon has told of; null where none does now, or jobs don't follow it. */
  private static @Nullable Set<String> routes(Host host, Path file, List<Finding> findings) {
    try (RouteReader reader = RouteReader.open(file, NanoClock.SYSTEM)) {
      if (reader == null) {
        findings.add(
            new Finding.Ok(
                "no route daemon has published "
                    + file
                    + ": weights by "
                    + (host.setting("HEDDLE_WEIGHTS").isEmpty()
                        ? "nobody, all equal"
                        : "HEDDLE_WEIGHTS")));
        return null;
      }
      return published(host, reader, findings);
    } catch (HeddleException unreadable) {
      findings.add(
          new Finding.Fault(
              GONE, String.valueOf(unreadable.getMessage()), "start heddle bgp run again"));
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
              "start heddle bgp run (heddle-bgp.service); see its log"));
    }
    if (!host.setting("HEDDLE_WEIGHTS").isEmpty()) {
      findings.add(
          new Finding.Warning(
              OVERRIDE,
              "HEDDLE_WEIGHTS=" + host.setting("HEDDLE_WEIGHTS") + " beside a route daemon",
              "unset it, and weights follow the routes"));
    }
    return alive && host.followedRoutes() != null
        ? new TreeSet<>(reader.planes().stream().map(PublishedPlane::key).toList())
        : null;
  }

  /* With HEDDLE_WEIGHTS set the daemon's names for planes aren't used. */
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
              "see the port towards that plane's leaf (ports, addresses), and plane and source of"
                  + " that peer in the daemon's configuration"));
    }
    List<String> unknown = here.stream().filter(key -> !there.contains(key)).toList();
    if (!unknown.isEmpty()) {
      findings.add(
          new Finding.Warning(
              UNWEIGHED,
              both + "no routes for " + String.join(", ", unknown),
              "add a peer for that plane to the daemon's configuration, or leave its address out"
                  + " with HEDDLE_PLANES"));
    }
  }

  private static void sessions(Host host, List<Finding> findings) {
    try {
      JsonNode daemon =
          new ObjectMapper().readTree(BgpSocket.ask(host.places().control(), "daemon"));
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
                    "heddle bgp show neighbours; see the leaf's side of the session"));
      }
    } catch (HeddleException | JsonProcessingException unheard) {
      findings.add(
          new Finding.Warning(
              UNHEARD, String.valueOf(unheard.getMessage()), "name its socket with --control"));
    }
  }
}
