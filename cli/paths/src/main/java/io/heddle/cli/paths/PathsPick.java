package io.heddle.cli.paths;

import io.heddle.fabric.model.EvenPorts;
import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Source ports that spread evenly.
 *
 * @param ports chosen ones
 * @param setting the line that makes a soft device use them
 * @param linear whether the hash was found to be linear, so that all ports were there to choose
 *     from
 * @param ways how many ways there are
 * @param most flows of the way with the most
 * @param least flows of the way with the fewest
 * @param unevenness by how many flows the links of one switch differ at most
 */
record PathsPick(
    List<Integer> ports,
    String setting,
    boolean linear,
    int ways,
    int most,
    int least,
    int unevenness) {
  /** The setting's name. */
  static final String SETTING = "HEDDLE_SOURCE_PORTS";

  private static final int FIRST = 0xc000;
  private static final String BETWEEN = " > ";

  /**
   * Chooses from a measurement.
   *
   * @throws HeddleException where there are too few ports to choose from
   */
  static PathsPick of(PathsMeasurement found, int count) {
    List<Integer> branchings = found.branchings();
    if (branchings.isEmpty()) {
      throw new HeddleException(
          "all %s measured ports take the same way: there is nothing to choose"
              .formatted(found.ports().size()));
    }
    PathsFit fit = PathsFit.linear(found);
    SortedMap<Integer, String> known = new TreeMap<>(found.ways(branchings.getLast()));
    if (fit != null) {
      known.clear();
      for (int port = FIRST; port < 0x10000; port++) {
        String way = fit.way(port);
        if (way != null) {
          known.put(port, way);
        }
      }
    }
    SortedMap<Integer, List<String>> ways = new TreeMap<>();
    known.forEach((port, way) -> ways.put(port, List.of(way.split(BETWEEN))));
    List<Integer> ports = EvenPorts.choose(count, ways);
    SortedMap<String, Integer> flows = new TreeMap<>();
    known.values().forEach(way -> flows.put(way, 0));
    ports.forEach(port -> flows.merge(String.valueOf(known.get(port)), 1, Integer::sum));
    List<List<String>> taken = new ArrayList<>();
    ports.forEach(port -> taken.add(ways.getOrDefault(port, List.of())));
    int[] loads = flows.values().stream().mapToInt(Integer::intValue).toArray();
    return new PathsPick(
        ports,
        SETTING + "=" + String.join(",", ports.stream().map(String::valueOf).toList()),
        fit != null,
        loads.length,
        Arrays.stream(loads).max().orElseThrow(),
        Arrays.stream(loads).min().orElseThrow(),
        EvenPorts.unevenness(ways.values(), taken));
  }

  /** For people. */
  String text() {
    return "%s%n%n%s ports over %s ways: %s to %s flows on each; %s%n"
        .formatted(
            setting,
            ports.size(),
            ways,
            least,
            most,
            linear
                ? "the hash is linear, so all ports were there to choose from"
                : "only measured ports were there to choose from");
  }
}
