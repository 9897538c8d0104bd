package io.heddle.cli.bench;

import io.heddle.cli.bench.perf.Machine;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a measurement.
 *
 * @param measurement its name
 * @param command what repeats it
 * @param quick whether sizes and rounds were left out
 * @param commit that was measured; with {@code +} where files differed from it
 * @param time of its start, UTC
 * @param seconds that it took
 * @param loadBefore load of the machine, mean of a minute
 * @param loadAfter the same at the end
 * @param failure why there are no figures; null where there are
 * @param laterFailure when and why a later run came to nothing, so that these figures stayed; null
 *     where they are the newest run's
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
    @Nullable String laterFailure) {
  /** A figure that every measurement has. */
  static final String TIME = "time of the command";

  /** Of the command's own process: the most memory that it had at a time. */
  static final String MEMORY = "memory of the command";

  /** Of the command's own process; no longer than {@link #TIME} where one core serves. */
  static final String PROCESSOR = "processor time of the command";

  /** These figures, which stay since {@code later} has none. */
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
        later.time() + ": " + later.failure());
  }

  @Nullable Figure figure(String name) {
    if (name.equals(TIME) && failure == null) {
      return Figure.of(TIME, "s", seconds);
    }
    return figures.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
  }
}
