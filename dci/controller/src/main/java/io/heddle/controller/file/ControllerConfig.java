package io.heddle.controller.file;

import io.heddle.controller.network.ControllerKeys;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.network.NetworkParser;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
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

  /**
   * Reads a file.
   *
   * @throws HeddleException if the file can't be read or contains an error; the message names file,
   *     line and error
   */
  public static ControllerConfig read(Path file) {
    return parse(file.toString(), ConfigText.read(file));
  }

  static ControllerConfig parse(String file, String content) {
    ConfigText text = NetworkParser.text(file, content);
    ConfigText.Section top = text.top();
    try {
      SolverSettings settings =
          new SolverSettings(
              top.get(ControllerKeys.HIGH),
              top.get(ControllerKeys.GAP),
              top.get(ControllerKeys.LOW),
              top.get(ControllerKeys.LEAST_GAIN),
              top.get(ControllerKeys.SLACK),
              top.get(ControllerKeys.SAMPLES),
              top.get(ControllerKeys.SETTLE_SAMPLES),
              top.get(ControllerKeys.MOST_MOVES),
              SECOND_NS * top.get(ControllerKeys.HOLD_DOWN_S),
              SECOND_NS * top.get(ControllerKeys.RELEASE_S),
              MS_NS * top.get(ControllerKeys.INTERVAL_MS),
              top.get(ControllerKeys.STALE_INTERVALS),
              top.get(ControllerKeys.LATENCY_LIMIT_MS),
              top.get(ControllerKeys.LOSS_LIMIT));
      return new ControllerConfig(
          settings, top.get(ControllerKeys.STRATEGY), NetworkParser.parse(text));
    } catch (IllegalArgumentException unfit) {
      throw new HeddleException(file + ": " + unfit.getMessage(), unfit);
    }
  }
}
