package io.heddle.tools.bench;

import io.heddle.tools.bench.perf.Machine;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Target for a figure: a value that the figure should reach.
 *
 * @param group heading of the target in the table
 * @param measurement name of the measurement with the figure
 * @param figure name of the figure
 * @param bound side of the wanted value on which the target is met
 * @param wanted wanted value, in the figure's unit
 * @param limit reason why this design may miss the target; null if it should not
 */
record Target(
    String group,
    String measurement,
    String figure,
    Bound bound,
    double wanted,
    @Nullable Limit limit) {
  /**
   * Reason why a target may be missed, and the figure that shows it.
   *
   * @param reason reason as a clause
   * @param evidence condition under which the reason is the cause on the measured machine
   */
  record Limit(String reason, Evidence evidence) {}

  /**
   * Condition on a figure. The figure must be measured on the same machine as the figure that
   * missed its target.
   *
   * @param measurement name of the measurement with the figure
   * @param figure name of the figure
   * @param bound side of the value on which the condition holds
   * @param value limit of the condition, in the figure's unit
   */
  record Evidence(String measurement, String figure, Bound bound, double value) {
    static Evidence atLeast(String measurement, String figure, double value) {
      return new Evidence(measurement, figure, Bound.AT_LEAST, value);
    }

    static Evidence atMost(String measurement, String figure, double value) {
      return new Evidence(measurement, figure, Bound.AT_MOST, value);
    }

    private boolean holds(Machine machine, Map<String, Outcome> outcomes) {
      @Nullable Outcome outcome = outcomes.get(measurement);
      if (outcome == null || outcome.failure() != null || !outcome.machine().equals(machine)) {
        return false;
      }
      @Nullable Figure shown = outcome.figure(figure);
      return shown != null && bound.includes(shown.median(), value);
    }
  }

  /** Side of a value on which a target is met or a condition holds. */
  enum Bound {
    AT_LEAST,
    AT_MOST;

    /** Returns whether a value is on this side of a limit; false if it is not a number. */
    boolean includes(double value, double limit) {
      return this == AT_LEAST ? value >= limit : value <= limit;
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

  static Target atLeast(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_LEAST, wanted, null);
  }

  static Target atMost(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_MOST, wanted, null);
  }

  /**
   * Returns a copy with a reason for missing the target. The reason is given only if {@code
   * evidence} holds.
   */
  Target limitedBy(String reason, Evidence evidence) {
    return new Target(group, measurement, figure, bound, wanted, new Limit(reason, evidence));
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
    if (bound.includes(measured.median(), wanted)) {
      return new Verdict(this, Result.MET, measured, null, null);
    }
    @Nullable String reason =
        limit != null && limit.evidence().holds(outcome.machine(), outcomes)
            ? limit.reason()
            : null;
    return new Verdict(this, Result.MISSED, measured, null, reason);
  }

  String wantedText() {
    return (bound == Bound.AT_LEAST ? "≥ " : "≤ ") + number(wanted);
  }

  /**
   * Formats a value with three digits: three decimals below 1, two below 10, one below 100, none
   * from there on.
   */
  static String number(double value) {
    double size = Math.abs(value);
    return String.format(
        Locale.ROOT,
        size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f",
        value);
  }
}
