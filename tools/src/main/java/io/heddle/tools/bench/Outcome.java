package io.heddle.tools.bench;

import io.heddle.tools.bench.perf.Machine;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a measurement.
 *
 * @param measurement name of the measurement
 * @param command command line that repeats it
 * @param quick whether sizes and rounds were left out
 * @param commit commit that was measured, with {@code +} if files differed from it
 * @param time start, UTC
 * @param seconds duration
 * @param loadBefore load average of the last minute at the start
 * @param loadAfter load average of the last minute at the end
 * @param failure reason why there are no figures; null if there are
 * @param notStarted whether it wasn't started: a requirement was missing, or no time was left
 * @param laterFailure time and reason of a later run's failure, for which these figures were kept;
 *     null if they are of the newest run
 */
record Outcome(
    String measurement,
    String command,
    boolean quick,
    String commit,
    String time,
    double seconds,
    double loadBefore,
    double loadAfter,
    Machine machine,
    List<Figure> figures,
    @Nullable String failure,
    boolean notStarted,
    @Nullable String laterFailure) {
  /** Name of a figure that every measurement has. */
  static final String TIME = "time of the command";

  /** Name of the figure: peak memory of the command's own process. */
  static final String MEMORY = "memory of the command";

  /**
   * Name of the figure: processor time of the command's own process, at most {@link #TIME} on one
   * core.
   */
  static final String PROCESSOR = "processor time of the command";

  /** Returns these figures, kept because {@code later} failed. */
  Outcome keptAfter(Outcome later) {
    return new Outcome(
        measurement,
        command,
        quick,
        commit,
        time,
        seconds,
        loadBefore,
        loadAfter,
        machine,
        figures,
        failure,
        notStarted,
        later.time() + ": " + later.failure());
  }

  /** Returns a word for the lack of figures. */
  String verdict() {
    return notStarted ? "NOT RUN" : "FAILED";
  }

  @Nullable Figure figure(String name) {
    if (name.equals(TIME) && failure == null) {
      return Figure.of(TIME, "s", seconds);
    }
    return figures.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
  }
}
