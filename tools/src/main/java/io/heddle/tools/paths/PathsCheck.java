package io.heddle.tools.paths;

import io.heddle.cli.kit.Json;
import io.heddle.cli.paths.PathsFit;
import io.heddle.cli.paths.PathsMeasurement;
import io.heddle.cli.paths.PathsPick;
import io.heddle.fabric.model.EcmpGroup;
import io.heddle.fabric.model.EvenPorts;
import io.heddle.fabric.model.SwitchHash;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.HashLab;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Check of the commands that measure, fit and pick paths. The switches of its lab have a known
 * hash, and their per-link counters are the reference.
 */
public final class PathsCheck {
  public static final int PORTS = 64;
  public static final int PICKED = 30;

  private static final String BETWEEN = " > ";
  private static final int SPINE_HOP = 2;
  private static final int CORE_HOP = 3;

  private final HashLab lab;
  private final List<String> self;

  /**
   * Result of one hash.
   *
   * @param hash hash of all switches
   * @param linear whether a fit must succeed
   * @param ports number of measured ports
   * @param correct number of ports whose measured path is the path that the switches counted
   * @param predicted number of ports whose counted path is the path that the hash model predicts
   * @param accuracy accuracy of the fit on held-out ports; null if there was no fit
   * @param fitted whether the fit found the hash to be linear
   * @param pickedMost largest number of picked flows on one path, as counted by the switches
   * @param pickedLeast smallest number of picked flows on one path, as counted by the switches
   * @param pickedUnevenness largest difference in picked flows between links of one switch, as
   *     counted by the switches
   * @param passed whether all figures are as expected
   */
  public record Row(
      String hash,
      boolean linear,
      int ports,
      int correct,
      int predicted,
      @Nullable Double accuracy,
      boolean fitted,
      int pickedMost,
      int pickedLeast,
      int pickedUnevenness,
      boolean passed) {}

  /**
   * JSON document of the command.
   *
   * @param rows results, one for each hash
   * @param passed whether all results passed
   */
  public record Document(List<Row> rows, boolean passed) {}

  /**
   * Creates a check.
   *
   * @param self command line that runs {@code heddle}, to which {@code paths measure} is added
   */
  public PathsCheck(HashLab lab, List<String> self) {
    this.lab = lab;
    this.self = self;
  }

  /**
   * Configures all switches with this hash, each with its own seed, and compares measurement, fit,
   * prediction and pick with their counters.
   */
  public Row check(SwitchHash hash, boolean linear) throws IOException, InterruptedException {
    lab.configure("leaf", HashSwitching.of(hash, lab.spines().size()));
    List<SwitchHash> ofSpines = new ArrayList<>();
    for (String spine : lab.spines()) {
      SwitchHash own = hash.withSeed(hash.seed() + 1000 * (ofSpines.size() + 1));
      ofSpines.add(own);
      lab.configure(spine, HashSwitching.of(own, lab.cores().size()));
    }
    lab.resetCounters();
    PathsMeasurement found = measure("--ports", Integer.toString(PORTS));
    SortedMap<Integer, String> measured = measured(found);
    SortedMap<Integer, String> counted = counted();
    int right = 0;
    int predicted = 0;
    for (PathsMeasurement.PortPath path : found.ports()) {
      String truth = counted.get(path.port());
      right += truth != null && truth.equals(measured.get(path.port())) ? 1 : 0;
      predicted += model(hash, ofSpines, path.port()).equals(truth) ? 1 : 0;
    }
    PathsFit fit = fit(found);
    PathsPick pick = PathsPick.of(found, PICKED);
    lab.resetCounters();
    measure("--only", String.join(",", pick.ports().stream().map(String::valueOf).toList()));
    List<List<String>> taken = new ArrayList<>();
    SortedMap<String, Integer> loads = new TreeMap<>();
    measured.values().forEach(path -> loads.put(path, 0));
    counted()
        .forEach((port, path) -> {
          taken.add(List.of(path.split(BETWEEN)));
          loads.merge(path, 1, Integer::sum);
        });
    int unevenness =
        EvenPorts.unevenness(
            loads.keySet().stream().map(path -> List.of(path.split(BETWEEN))).toList(), taken);
    boolean passed =
        found.ports().size() >= PORTS
            && right == found.ports().size()
            && predicted == found.ports().size()
            && (fit != null && fit.linear()) == linear
            && taken.size() == PICKED
            && unevenness <= 1;
    return new Row(
        hash.text(),
        linear,
        found.ports().size(),
        right,
        predicted,
        fit == null ? null : fit.accuracy(),
        fit != null && fit.linear(),
        loads.values().stream().mapToInt(Integer::intValue).max().orElse(0),
        loads.values().stream().mapToInt(Integer::intValue).min().orElse(0),
        unevenness,
        passed);
  }

  /*
   * Returns the measured spine and core of each port. A part that is the same for all ports is
   * included.
   */
  private static SortedMap<Integer, String> measured(PathsMeasurement found) {
    SortedMap<Integer, String> paths = new TreeMap<>();
    for (PathsMeasurement.PortPath path : found.ports()) {
      if (path.routers().size() > CORE_HOP - 1) {
        paths.put(
            path.port(),
            path.routers().get(SPINE_HOP - 1) + BETWEEN + path.routers().get(CORE_HOP - 1));
      }
    }
    return paths;
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

  /* Returns each port's path by the link counters of the leaf and the spines. */
  private SortedMap<Integer, String> counted() {
    Map<Integer, Map<String, Long>> leaf = lab.counted("leaf");
    Map<String, Map<Integer, Map<String, Long>>> spines = new TreeMap<>();
    lab.spines().forEach(spine -> spines.put(spine, lab.counted(spine)));
    SortedMap<Integer, String> paths = new TreeMap<>();
    leaf.forEach((port, links) -> {
      String spine = only(links);
      Map<Integer, Map<String, Long>> counted = spines.get(spine);
      Map<String, Long> next = counted == null ? null : counted.get(port);
      paths.put(port, next == null ? spine : path(spine, only(next)));
    });
    return paths;
  }

  /*
   * Returns the only link that counted a flow. A flow that several links counted has no single
   * path.
   */
  private static String only(Map<String, Long> links) {
    return String.join("+", links.keySet());
  }

  private static String path(String spine, String core) {
    return spine.matches("spine[0-9]+") && core.matches("core[0-9]+")
        ? HashLab.address(spine) + BETWEEN + HashLab.address(core)
        : spine + BETWEEN + core;
  }

  private String model(SwitchHash leaf, List<SwitchHash> spines, int port) {
    int spine = leaf.member(HashSwitching.flow(port), new EcmpGroup(lab.spines().size()));
    int core =
        spines.get(spine).member(HashSwitching.flow(port), new EcmpGroup(lab.cores().size()));
    return path(lab.spines().get(spine), lab.cores().get(core));
  }
}
