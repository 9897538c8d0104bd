package io.heddle.cli.paths;

import io.heddle.fabric.model.EvenPorts;
import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Selection of source ports whose flows spread evenly over the links.
 *
 * @param ports selected ports
 * @param setting environment variable that makes a soft device use the ports
 * @param linear whether the hash is linear, so that ports that weren't measured could be selected
 *     too
 * @param pathCount number of paths
 * @param most number of flows on the path with the most flows
 * @param least number of flows on the path with the fewest flows
 * @param unevenness largest difference of flows between links of one switch
 */
public record PathsPick(
    List<Integer> ports,
    String setting,
    boolean linear,
    int pathCount,
    int most,
    int least,
    int unevenness) {
  /** Name of the environment variable. */
  public static final String SETTING = "HEDDLE_SOURCE_PORTS";

  private static final int FIRST = 0xc000;
  private static final String BETWEEN = " > ";

  /**
   * Selects ports from a measurement.
   *
   * @throws HeddleException if there are too few ports
   */
  public static PathsPick of(PathsMeasurement found, int count) {
    List<Integer> branchings = found.branchings();
    if (branchings.isEmpty()) {
      throw new HeddleException(
          "all %s measured ports take the same path: there is nothing to choose"
              .formatted(found.ports().size()));
    }
    PathsFit fit = PathsFit.linear(found);
    SortedMap<Integer, String> known = new TreeMap<>(found.pathsUpTo(branchings.getLast()));
    if (fit != null) {
      known.clear();
      for (int port = FIRST; port < 0x10000; port++) {
        String path = fit.path(port);
        if (path != null) {
          known.put(port, path);
        }
      }
    }
    SortedMap<Integer, List<String>> links = new TreeMap<>();
    known.forEach((port, path) -> links.put(port, List.of(path.split(BETWEEN))));
    List<Integer> ports = EvenPorts.choose(count, links);
    SortedMap<String, Integer> flows = new TreeMap<>();
    known.values().forEach(path -> flows.put(path, 0));
    ports.forEach(port -> flows.merge(String.valueOf(known.get(port)), 1, Integer::sum));
    List<List<String>> taken = new ArrayList<>();
    ports.forEach(port -> taken.add(links.getOrDefault(port, List.of())));
    int[] loads = flows.values().stream().mapToInt(Integer::intValue).toArray();
    return new PathsPick(
        ports,
        SETTING + "=" + String.join(",", ports.stream().map(String::valueOf).toList()),
        fit != null,
        loads.length,
        Arrays.stream(loads).max().orElseThrow(),
        Arrays.stream(loads).min().orElseThrow(),
        EvenPorts.unevenness(links.values(), taken));
  }

  /** Returns the selection as text. */
  public String text() {
    return "%s%n%n%s ports over %s paths: %s to %s flows on each; %s%n"
        .formatted(
            setting,
            ports.size(),
            pathCount,
            least,
            most,
            linear
                ? "the hash is linear, so all ports were available"
                : "only measured ports were available");
  }
}
