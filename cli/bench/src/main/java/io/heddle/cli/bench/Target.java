package io.heddle.cli.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Target of a figure.
 *
 * @param group heading in the table
 * @param measurement name of the measurement with the figure
 * @param figure name of the figure
 * @param bound good side of the wanted value
 * @param wanted wanted value, in the figure's unit
 * @param limit proven reason why this design can't reach it; null if it should
 */
record Target(
    String group,
    String measurement,
    String figure,
    Bound bound,
    double wanted,
    @Nullable String limit) {
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
   */
  record Verdict(
      Target target, Result result, @Nullable Figure measured, @Nullable String reason) {}

  static Target atLeast(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_LEAST, wanted, null);
  }

  static Target atMost(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_MOST, wanted, null);
  }

  /** Returns the same target, with the reason why it is out of reach. */
  Target limitedBy(String reason) {
    return new Target(group, measurement, figure, bound, wanted, reason);
  }

  Verdict judge(@Nullable Outcome outcome) {
    if (outcome == null) {
      return new Verdict(this, Result.NOT_RUN, null, "heddle bench --only " + measurement);
    }
    Figure measured = outcome.figure(figure);
    if (outcome.failure() != null || measured == null || Double.isNaN(measured.median())) {
      String reason =
          outcome.failure() != null
              ? outcome.failure()
              : outcome.quick()
                  ? "not part of a quick run"
                  : "no such figure in the command's output";
      return new Verdict(this, Result.NOT_RUN, null, reason);
    }
    boolean met =
        bound == Bound.AT_LEAST ? measured.median() >= wanted : measured.median() <= wanted;
    return new Verdict(this, met ? Result.MET : Result.MISSED, measured, null);
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
