package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Machine;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Target for a figure: a bound that its median should keep.
 *
 * @param group heading of the target in the table
 * @param measurement name of the measurement with the figure
 * @param figure name of the figure
 * @param bound bound; null for the bound that the measurement itself reports
 * @param limit reason why this design may miss the target; null if it should not
 */
record Target(
    String group, String measurement, String figure, @Nullable Bound bound, @Nullable Limit limit) {
  /**
   * Reason why a target may be missed, and the figure that shows it.
   *
   * @param reason reason as a clause
   * @param measurement name of the measurement with the figure
   * @param figure name of a figure; it must be measured on the same machine as the one that missed
   *     its target
   * @param bound bound that this figure keeps where the reason is the cause
   */
  record Limit(String reason, String measurement, String figure, Bound bound) {
    private boolean holds(Machine machine, Map<String, Outcome> outcomes) {
      @Nullable Outcome outcome = outcomes.get(measurement);
      if (outcome == null || outcome.failure() != null || !outcome.machine().equals(machine)) {
        return false;
      }
      @Nullable Figure shown = outcome.figure(figure);
      return shown != null && bound.holds(shown.median());
    }
  }

  /** Result of a target. */
  enum Result {
    MET,
    MISSED,
    NOT_RUN
  }

  /**
   * Target with its measured figure.
   *
   * @param result result of the comparison
   * @param measured measured figure; null if the measurement didn't run
   * @param reason reason why the measurement didn't run; null if it did
   * @param limit reason why the target was missed; null unless figures of the same machine show the
   *     reason
   */
  record Verdict(
      Target target,
      Result result,
      @Nullable Figure measured,
      @Nullable String reason,
      @Nullable String limit) {}

  private Target of(Figure bounded) {
    return new Target(group, measurement, bounded.name(), bounded.bound(), limit);
  }

  /**
   * Compares the outcome of {@link #measurement} with this target.
   *
   * @param outcomes outcomes by the measurement's name
   */
  Verdict verdict(Map<String, Outcome> outcomes) {
    @Nullable Outcome outcome = outcomes.get(measurement);
    if (outcome == null) {
      return new Verdict(this, Result.NOT_RUN, null, "heddle bench --only " + measurement, null);
    }
    Figure measured = outcome.figure(figure);
    if (outcome.failure() != null || measured == null || Double.isNaN(measured.median())) {
      String reason =
          outcome.failure() != null
              ? outcome.failure()
              : outcome.quick()
                  ? "not part of a quick run"
                  : "no such figure in the command's output";
      return new Verdict(this, Result.NOT_RUN, null, reason, null);
    }
    if (bound == null) {
      return measured.bound() == null
          ? new Verdict(this, Result.NOT_RUN, null, "the command's output has no bound", null)
          : of(measured).verdict(outcomes);
    }
    if (bound.holds(measured.median())) {
      return new Verdict(this, Result.MET, measured, null, null);
    }
    @Nullable String reason =
        limit != null && limit.holds(outcome.machine(), outcomes) ? limit.reason() : null;
    return new Verdict(this, Result.MISSED, measured, null, reason);
  }

  String wantedText() {
    return bound == null ? "own" : bound.text();
  }
}
