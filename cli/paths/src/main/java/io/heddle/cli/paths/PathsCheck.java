package io.heddle.cli.paths;

import io.heddle.cli.kit.Json;
import io.heddle.cli.lab.HashLab;
import io.heddle.fabric.model.EcmpGroup;
import io.heddle.fabric.model.EvenPorts;
import io.heddle.fabric.model.SwitchHash;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Measures, fits and picks in a lab whose switches have a known hash, and holds it against what the
 * switches counted on their links.
 */
final class PathsCheck {
  static final int PORTS = 64;
  static final int PICKED = 30;

  private static final String BETWEEN = " > ";
  private static final int SPINE_HOP = 2;
  private static final int CORE_HOP = 3;

  private final HashLab lab;
  private final List<String> self;

  /**
   * One hash's figures.
   *
   * @param hash of all switches
   * @param linear whether a fit is to succeed
   * @param ports measured
   * @param right of them whose measured way is the one that the switches counted
   * @param foretold of them whose counted way is the model's
   * @param accuracy of the fit on held-out ports; null where there was none
   * @param fitted whether the fit calls the hash linear
   * @param pickedMost flows of the way with the most, of the picked ones, as the switches counted
   * @param pickedLeast flows of the way with the fewest
   * @param pickedUnevenness by how many flows the links of one switch differ at most, as counted
   * @param passed whether all that is as it has to be
   */
  record Row(
      String hash,
      boolean linear,
      int ports,
      int right,
      int foretold,
      @Nullable Double accuracy,
      boolean fitted,
      int pickedMost,
      int pickedLeast,
      int pickedUnevenness,
      boolean passed) {}

  /**
   * All of them.
   *
   * @param rows one for each hash
   * @param passed whether each is as it has to be
   */
  record Document(List<Row> rows, boolean passed) {}

  /**
   * @param self the command line that runs {@code heddle}, to which {@code paths measure} is added
   */
  PathsCheck(HashLab lab, List<String> self) {
    this.lab = lab;
    this.self = self;
  }

  /** Gives all switches this hash, each its own seed, and checks. */
  Row check(SwitchHash hash, boolean linear) throws IOException, InterruptedException {
    lab.use("leaf", HashSwitching.of(hash, lab.spines().size()));
    List<SwitchHash> ofSpines = new ArrayList<>();
    for (String spine : lab.spines()) {
      SwitchHash own = hash.withSeed(hash.seed() + 1000 * (ofSpines.size() + 1));
      ofSpines.add(own);
      lab.use(spine, HashSwitching.of(own, lab.cores().size()));
    }
    lab.forget();
    PathsMeasurement found = measure("--ports", Integer.toString(PORTS));
    SortedMap<Integer, String> measured = measured(found);
    SortedMap<Integer, String> counted = counted();
    int right = 0;
    int foretold = 0;
    for (PathsMeasurement.PortWay way : found.ports()) {
      String truth = counted.get(way.port());
      right += truth != null && truth.equals(measured.get(way.port())) ? 1 : 0;
      foretold += model(hash, ofSpines, way.port()).equals(truth) ? 1 : 0;
    }
    PathsFit fit = fit(found);
    PathsPick pick = PathsPick.of(found, PICKED);
    lab.forget();
    measure("--only", String.join(",", pick.ports().stream().map(String::valueOf).toList()));
    List<List<String>> taken = new ArrayList<>();
    SortedMap<String, Integer> loads = new TreeMap<>();
    measured.values().forEach(way -> loads.put(way, 0));
    counted()
        .forEach((port, way) -> {
          taken.add(List.of(way.split(BETWEEN)));
          loads.merge(way, 1, Integer::sum);
        });
    int unevenness =
        EvenPorts.unevenness(
            loads.keySet().stream().map(way -> List.of(way.split(BETWEEN))).toList(), taken);
    boolean passed =
        found.ports().size() >= PORTS
            && right == found.ports().size()
            && foretold == found.ports().size()
            && (fit != null && fit.linear()) == linear
            && taken.size() == PICKED
            && unevenness <= 1;
    return new Row(
        hash.text(),
        linear,
        found.ports().size(),
        right,
        foretold,
        fit == null ? null : fit.accuracy(),
        fit != null && fit.linear(),
        loads.values().stream().mapToInt(Integer::intValue).max().orElse(0),
        loads.values().stream().mapToInt(Integer::intValue).min().orElse(0),
        unevenness,
        passed);
  }

  /* Spine and core, also where these are the same for all ports. */
  private static SortedMap<Integer, String> measured(PathsMeasurement found) {
    SortedMap<Integer, String> ways = new TreeMap<>();
    for (PathsMeasurement.PortWay way : found.ports()) {
      if (way.routers().size() > CORE_HOP - 1) {
        ways.put(
            way.port(),
            way.routers().get(SPINE_HOP - 1) + BETWEEN + way.routers().get(CORE_HOP - 1));
      }
    }
    return ways;
  }

  private static @Nullable PathsFit fit(PathsMeasurement found) {
    try {
      return PathsFit.of(found, 0);
    } catch (HeddleException refused) {
      return null;
    }
  }

  private PathsMeasurement measure(String... options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(self);
    command.addAll(List.of("paths", "measure", HashLab.PEER, "--rate", "1000", "--json"));
    command.addAll(List.of(options));
    Process process =
        new ProcessBuilder(lab.command("a", command))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new HeddleException("heddle paths measure failed on the lab's host");
      }
      return Json.mapper().readValue(text, PathsMeasurement.class);
    } finally {
      process.destroy();
    }
  }

  /* By the counters of the leaf's and the spines' links. */
  private SortedMap<Integer, String> counted() {
    Map<Integer, Map<String, Long>> leaf = lab.counted("leaf");
    Map<String, Map<Integer, Map<String, Long>>> spines = new TreeMap<>();
    lab.spines().forEach(spine -> spines.put(spine, lab.counted(spine)));
    SortedMap<Integer, String> ways = new TreeMap<>();
    leaf.forEach((port, links) -> {
      String spine = only(links);
      Map<Integer, Map<String, Long>> counted = spines.get(spine);
      Map<String, Long> next = counted == null ? null : counted.get(port);
      ways.put(port, next == null ? spine : way(spine, only(next)));
    });
    return ways;
  }

  /* A flow that was seen on several links has no single way. */
  private static String only(Map<String, Long> links) {
    return String.join("+", links.keySet());
  }

  private static String way(String spine, String core) {
    return spine.matches("spine[0-9]+") && core.matches("core[0-9]+")
        ? HashLab.address(spine) + BETWEEN + HashLab.address(core)
        : spine + BETWEEN + core;
  }

  private String model(SwitchHash leaf, List<SwitchHash> spines, int port) {
    int spine = leaf.member(HashSwitching.flow(port), new EcmpGroup(lab.spines().size()));
    int core =
        spines.get(spine).member(HashSwitching.flow(port), new EcmpGroup(lab.cores().size()));
    return way(lab.spines().get(spine), lab.cores().get(core));
  }
}
