package io.heddle.cli.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a figure should be.
 *
 * @param group what it is about
 * @param measurement that has the figure
 * @param figure its name
 * @param bound which side of it is good
 * @param wanted in the figure's unit
 * @param limit why this design doesn't reach it, where that was shown; null where it should
 */
record Target(
    String group,
    String measurement,
    String figure,
    Bound bound,
    double wanted,
    @Nullable String limit) {
  /** Which side of the wanted number is good. */
  enum Bound {
    AT_LEAST,
    AT_MOST
  }

  /** What came of a target. */
  enum Result {
    MET,
    MISSED,
    NOT_RUN
  }

  /**
   * A target and what was measured.
   *
   * @param result what came of it
   * @param measured the figure; null where it wasn't run
   * @param reason why it wasn't run
   */
  record Verdict(
      Target target, Result result, @Nullable Figure measured, @Nullable String reason) {}

  static Target atLeast(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_LEAST, wanted, null);
  }

  static Target atMost(String group, String measurement, String figure, double wanted) {
    return new Target(group, measurement, figure, Bound.AT_MOST, wanted, null);
  }

  /** The same, which was shown to be out of reach. */
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
              : outcome.quick() ? "not part of a quick run" : "the command doesn't report it";
      return new Verdict(this, Result.NOT_RUN, null, reason);
    }
    boolean met =
        bound == Bound.AT_LEAST ? measured.median() >= wanted : measured.median() <= wanted;
    return new Verdict(this, met ? Result.MET : Result.MISSED, measured, null);
  }

  String wantedText() {
    return (bound == Bound.AT_LEAST ? "≥ " : "≤ ") + number(wanted);
  }

  /** Three digits, or the whole number where it has more. */
  static String number(double value) {
    double size = Math.abs(value);
    return String.format(
        Locale.ROOT,
        size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f",
        value);
  }
}
