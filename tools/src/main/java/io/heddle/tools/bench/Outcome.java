package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Machine;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a measurement.
 *
 * @param measurement name of the measurement
 * @param command command line that repeats the measurement
 * @param quick whether the run was quick, with fewer sizes and rounds
 * @param commit commit that was measured, with {@code +} if files differed from the commit
 * @param time start of the measurement, UTC
 * @param seconds duration of the command in seconds
 * @param loadBefore load average of the last minute at the start
 * @param loadAfter load average of the last minute at the end
 * @param failure reason why there are no figures; null if there are figures
 * @param notStarted whether the command wasn't started, because a requirement was missing or no
 *     time was left
 * @param laterFailure time and reason of a later run's failure, after which these figures were
 *     kept; null if they are of the newest run
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
  /** Name of the figure of the command's duration. Every measurement has this figure. */
  static final String TIME = "time of the command";

  /** Name of the figure of the peak memory of the command's own process. */
  static final String MEMORY = "memory of the command";

  /**
   * Name of the figure of the processor time of the command's own process. It is at most {@link
   * #TIME} if the process uses one core.
   */
  static final String PROCESSOR = "processor time of the command";

  /** Returns this outcome with the note that {@code later} failed and these figures were kept. */
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

  /** Returns the word that a report shows in place of the missing figures. */
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
