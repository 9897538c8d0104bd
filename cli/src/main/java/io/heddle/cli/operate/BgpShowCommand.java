package io.heddle.cli.operate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands {@code heddle bgp show}, which query the running route daemon. */
@Command(
    name = "show",
    description = "Shows the state of this host's route daemon.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class BgpShowCommand {
  private static final String JSON = "--json";
  private static final String JSON_TEXT = "Print one JSON document.";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  private static JsonNode parse(String document) {
    try {
      return Json.mapper().readTree(document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          "the daemon's answer isn't JSON; is it of another release?", malformed);
    }
  }

  @Command(
      name = "neighbours",
      aliases = "neighbors",
      description = "Shows peers with their sessions, and the published planes.",
      mixinStandardHelpOptions = true)
  int neighbours(
      @CommandLine.Mixin ControlOption control,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    String answer = control.request("daemon");
    if (json) {
      out().println(answer);
      out().flush();
      return 0;
    }
    JsonNode daemon = parse(answer);
    out()
        .printf(
            "AS %s, router id %s; %s: %s, %s prefixes, change %s%s%n",
            daemon.path("as").asLong(),
            daemon.path("router_id").asText(),
            daemon.path("routes_file").asText(),
            daemon.path("published").asBoolean() ? "published" : "not published yet",
            daemon.path("prefixes").asInt(),
            daemon.path("generation").asLong(),
            daemon.path("incomplete").asBoolean() ? ", INCOMPLETE: no space for the file" : "");
    out().printf("%n%-16s %-40s %9s  %s%n", "plane", "our address", "Gbit/s", "from");
    for (JsonNode plane : daemon.path("planes")) {
      long rate = plane.path("rate_mbps").asLong();
      out()
          .printf(
              "%-16s %-40s %9s  %s%n",
              plane.path("key").asText(),
              plane.path("source").isNull() ? "none yet" : plane.path("source").asText(),
              rate == 0 ? "?" : String.format(Locale.ROOT, "%.1f", rate / 1000.0),
              plane.path("via").asText());
    }
    out()
        .printf(
            "%n%-12s %-36s %10s %-12s %-12s %8s %8s%n",
            "peer", "address", "AS", "state", "plane", "routes", "up");
    for (JsonNode peer : daemon.path("neighbours")) {
      printNeighbour(peer);
    }
    out().flush();
    return 0;
  }

  private void printNeighbour(JsonNode peer) {
    long up = peer.path("up_for_ms").asLong();
    out()
        .printf(
            "%-12s %-36s %10s %-12s %-12s %8s %8s%n",
            peer.path("name").asText(),
            peer.path("remote").asText().isEmpty()
                ? "unknown, on " + peer.path("interface_name").asText()
                : peer.path("remote").asText(),
            peer.path("as").asLong(),
            peer.path("state").asText(),
            peer.path("plane").asText(),
            peer.path("routes").asInt(),
            up < 0 ? "-" : up / 1000 + " s");
    if (up < 0 && !peer.path("last_end").isNull()) {
      out().printf("  last: %s%n", peer.path("last_end").asText());
    }
    if (peer.path("idle_until").isTextual()) {
      out()
          .printf(
              "  its connections are rejected until %s, %s so far; the next attempt is in %s"
                  + " s%n",
              peer.path("idle_until").asText(),
              peer.path("rejected_connections").asLong(),
              peer.path("retry_in_ms").asLong() / 1000);
    }
    if (peer.path("faults").asLong() > 0) {
      out()
          .printf(
              "  %s malformed attributes and prefixes; the log has the first of each kind%n",
              peer.path("faults").asLong());
    }
    if (peer.path("without_plane").asLong() > 0) {
      out()
          .printf(
              "  %s announcements had no colour and belong to no plane%n",
              peer.path("without_plane").asLong());
    }
    if (peer.path("filter_lines").asInt() > 0) {
      out().printf("  filters for us by %s lines%n", peer.path("filter_lines").asInt());
    }
  }

  @Command(
      name = "routes",
      description = "Shows routes as received from the peers.",
      mixinStandardHelpOptions = true)
  int routes(
      @Option(
              names = "--peer",
              paramLabel = "NAME",
              description = "Only of this peer, by its name in the configuration.")
          @Nullable String peer,
      @Option(
              names = "--most",
              paramLabel = "N",
              defaultValue = "1000",
              description = "Maximum number of routes (${DEFAULT-VALUE}).")
          int most,
      @CommandLine.Mixin ControlOption control,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    String answer = control.request("routes " + (peer == null ? "*" : peer) + " " + most);
    if (json) {
      out().println(answer);
    } else {
      for (JsonNode route : parse(answer).path("routes")) {
        out().println(line(route));
      }
    }
    out().flush();
    return 0;
  }

  private static String line(JsonNode route) {
    int mbps = route.path("bandwidth_mbps").asInt();
    return String.format(
        Locale.ROOT,
        "%-44s %-12s %-12s %-28s %9s%s  AS path %s",
        route.path("prefix").asText(),
        route.path("peer").asText(),
        route.path("plane").asText().isEmpty() ? "no plane" : route.path("plane").asText(),
        route.path("weight_attributes").asText(),
        mbps <= 1 ? "" : mbps / 1000.0 + " G",
        route.path("borrowed").asBoolean() ? ", borrowed path" : "",
        route.path("as_path").asText());
  }

  @Command(
      name = "destination",
      description = "Explains each plane's weight for one destination.",
      mixinStandardHelpOptions = true)
  int destination(
      @Parameters(paramLabel = "ADDRESS", description = "An IPv6 address.") String address,
      @CommandLine.Mixin ControlOption control,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    String answer = control.request("destination " + address);
    if (json) {
      out().println(answer);
    } else {
      JsonNode explanation = parse(answer);
      out().println(explanation.path("destination").asText());
      for (JsonNode plane : explanation.path("planes")) {
        out()
            .printf(
                Locale.ROOT,
                "  %-16s %5.1f %%  %s%n",
                plane.path("key").asText(),
                100 * plane.path("share").asDouble(),
                plane.path("why").asText());
        for (JsonNode route : plane.path("routes")) {
          out().println("      " + line(route));
          out()
              .println(
                  "          next hop "
                      + route.path("next_hop").asText()
                      + "; "
                      + route.path("attributes").asText());
        }
      }
    }
    out().flush();
    return 0;
  }
}
