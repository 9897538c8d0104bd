package io.heddle.cli.paths;

import io.heddle.cli.paths.PathsMeasurement.NextRouters;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/** Formatter of a measurement as text tables. */
final class MeasurementText {
  private static final int MOST_PORTS = 12;

  private MeasurementText() {}

  static String of(PathsMeasurement found) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%s to %s: %s ports, %s hops, %s%n%n"
            .formatted(
                found.source(),
                found.destination(),
                found.ports().size(),
                found.length(),
                found.reached()
                    ? "the last hop is the peer"
                    : "no replies beyond: the peer has port 4791 open, or a router is silent"));
    text.append(
        "%3s  %-26s %-26s %6s  %s%n".formatted("hop", "behind", "router", "flows", "confidence"));
    for (NextRouters group : found.groups()) {
      text.append(of(group));
    }
    if (!found.inUse().isEmpty()) {
      text.append(
          "%nnot measured, since other programs of this host use them: %s%n"
              .formatted(found.inUse()));
    }
    List<Integer> branchings = found.branchings();
    if (branchings.isEmpty()) {
      return text.append("%nall ports take the same path%n".formatted()).toString();
    }
    text.append("%nways%n".formatted());
    SortedMap<String, List<Integer>> ports = new TreeMap<>();
    found
        .pathsUpTo(branchings.getLast())
        .forEach(
            (port, path) -> ports.computeIfAbsent(path, unknown -> new ArrayList<>()).add(port));
    ports.forEach((path, each) ->
        text.append(
            "  %-40s %3s: %s%s%n"
                .formatted(
                    path,
                    each.size(),
                    String.join(" ", each.stream().limit(MOST_PORTS).map(String::valueOf).toList()),
                    each.size() > MOST_PORTS ? " …" : "")));
    return text.toString();
  }

  private static String of(NextRouters group) {
    StringBuilder text = new StringBuilder();
    String confidence =
        String.format(Locale.ROOT, "%.1f %%", 100 * group.confidence())
            + (group.confidence() < StoppingRule.WANTED ? ", too few flows for certainty" : "");
    for (var router : group.routers().entrySet()) {
      text.append(
          "%3s  %-26s %-26s %6s  %s%n"
              .formatted(
                  group.hop(), group.behind(), router.getKey(), router.getValue(), confidence));
      confidence = "";
    }
    if (group.silent() > 0) {
      text.append(
          "%3s  %-26s %-26s %6s  %s%n"
              .formatted(group.hop(), group.behind(), "router silent", group.silent(), ""));
    }
    return text.toString().replaceAll(" +\n", "\n");
  }
}
