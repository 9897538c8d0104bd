package io.heddle.cli.bench;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Target of a figure.
 *
 * @param group heading in the table
 * @param measurement name of the measurement with the figure
 * @param figure name of the figure
 * @param bound good side of the wanted value
 * @param wanted wanted value, in the figure's unit
 * @param limit why this design may miss it; null where it should not
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
   * @param reason a clause
   * @param evidence holds where the reason is the cause on the machine that was measured
   */
  record Limit(String reason, Target evidence) {}

  /** Good side of the wanted value. */
  enum Bound {
    AT_LEAST,
    AT_MOST
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
   * @param measured measured figure; null if not run
   * @param reason reason why it wasn't run; null if it was
   * @param limit reason why it was missed, where the same machine's figures show the reason
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

  /** Returns the same target with a reason for missing it, given only if {@code evidence} holds. */
  Target limitedBy(String reason, Target evidence) {
    return new Target(group, measurement, figure, bound, wanted, new Limit(reason, evidence));
  }

  /**
   * Compares the outcome of {@link #measurement} with this target.
   *
   * @param outcomes by the measurement's name
   */
  Verdict judge(Map<String, Outcome> outcomes) {
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
    boolean met =
        bound == Bound.AT_LEAST ? measured.median() >= wanted : measured.median() <= wanted;
    return met
        ? new Verdict(this, Result.MET, measured, null, null)
        : new Verdict(this, Result.MISSED, measured, null, shownReason(outcome, outcomes));
  }

  /** Returns the limit's reason if figures of the same machine show it. */
  private @Nullable String shownReason(Outcome outcome, Map<String, Outcome> outcomes) {
    if (limit == null) {
      return null;
    }
    @Nullable Outcome shownIn = outcomes.get(limit.evidence().measurement());
    return shownIn != null
            && shownIn.machine().equals(outcome.machine())
            && limit.evidence().judge(outcomes).result() == Result.MET
        ? limit.reason()
        : null;
  }

  String wantedText() {
    return (bound == Bound.AT_LEAST ? "≥ " : "≤ ") + number(wanted);
  }

  /** Formats a value with three significant digits, or as a whole number if it has more. */
  static String number(double value) {
    double size = Math.abs(value);
    return String.format(
        Locale.ROOT,
        size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f",
        value);
  }
}
