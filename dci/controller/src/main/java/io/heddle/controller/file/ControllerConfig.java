package io.heddle.controller.file;

import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.network.NetworkParser;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.telemetry.gnmi.GnmiMethods;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the controller, from {@code key = value} lines and sections.
 *
 * @param network settings from the sections; null if the file has no sections, as for a dry run
 */
public record ControllerConfig(
    SolverSettings settings, Strategy strategy, @Nullable NetworkConfig network) {
  public static final ControllerConfig DEFAULT =
      new ControllerConfig(SolverSettings.DEFAULT, Strategy.MIN_MAX, null);

  private static final long SECOND_NS = 1_000_000_000;
  private static final long MS_NS = 1_000_000;
  private static final int MOST_SECONDS = 86_400;
  private static final int LEAST_INTERVAL_MS = (int) (GnmiMethods.LEAST_INTERVAL_NS / MS_NS);
  private static final Set<String> KEYS =
      Set.of(
          "strategy",
          "high",
          "gap",
          "low",
          "least-gain",
          "slack",
          "samples",
          "settle-samples",
          "most-moves",
          "hold-down-s",
          "release-s",
          "interval-ms",
          "stale-intervals",
          "latency-limit-ms",
          "loss-limit");

  private static final Set<String> ALL_KEYS =
      Stream.concat(KEYS.stream(), NetworkParser.TOP_KEYS.stream())
          .collect(Collectors.toUnmodifiableSet());

  /**
   * Reads a file.
   *
   * @throws HeddleException if the file can't be read or contains an error; the message names file,
   *     line and error
   */
  public static ControllerConfig read(Path file) {
    try {
      return parse(file.toString(), Files.readAllLines(file));
    } catch (IOException unreadable) {
      throw new HeddleException(
          file + " can't be read: " + FileFailure.reason(unreadable), unreadable);
    }
  }

  static ControllerConfig parse(String file, List<String> lines) {
    List<ConfigText.Section> sections = ConfigText.parse(file, lines, NetworkParser.SECTIONS);
    ConfigText.Section top = sections.getFirst();
    top.refuseUnknown(ALL_KEYS);
    SolverSettings standard = SolverSettings.DEFAULT;
    Strategy strategy =
        top.get("strategy", Strategy.MIN_MAX, "one of " + Strategy.names(), Strategy::of);
    try {
      SolverSettings settings =
          new SolverSettings(
              share(top, "high", standard.high()),
              share(top, "gap", standard.gap()),
              share(top, "low", standard.low()),
              share(top, "least-gain", standard.leastGain()),
              share(top, "slack", standard.slack()),
              (int) top.number("samples", standard.samples(), 1, 1_000),
              (int) top.number("settle-samples", standard.settleSamples(), 0, 1_000),
              (int) top.number("most-moves", standard.mostMoves(), 1, 1_000),
              seconds(top, "hold-down-s", standard.holdDownNs()),
              seconds(top, "release-s", standard.releaseNs()),
              MS_NS
                  * top.number(
                      "interval-ms", standard.intervalNs() / MS_NS, LEAST_INTERVAL_MS, 3_600_000),
              (int) top.number("stale-intervals", standard.staleIntervals(), 1, 1_000),
              top.get(
                  "latency-limit-ms",
                  standard.latencyLimitMs(),
                  "a number of milliseconds above 0",
                  between(0, Double.MAX_VALUE)),
              share(top, "loss-limit", standard.lossLimit()));
      return new ControllerConfig(settings, strategy, NetworkParser.parse(sections));
    } catch (IllegalArgumentException unfit) {
      throw new HeddleException(file + ": " + unfit.getMessage(), unfit);
    }
  }

  private static long seconds(ConfigText.Section top, String key, long standardNs) {
    return SECOND_NS * top.number(key, standardNs / SECOND_NS, 0, MOST_SECONDS);
  }

  private static double share(ConfigText.Section top, String key, double standard) {
    return top.get(key, standard, "a share from 0 to 1", between(0, 1));
  }

  private static Function<String, Double> between(double least, double most) {
    return text -> {
      double value = Double.parseDouble(text);
      if (!(value >= least && value <= most)) {
        throw new IllegalArgumentException("out of range");
      }
      return value;
    };
  }
}
