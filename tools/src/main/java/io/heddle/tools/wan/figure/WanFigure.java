package io.heddle.tools.wan.figure;

import java.util.Locale;

/**
 * Measured figure with its bound.
 *
 * @param test letter of the requirement that the figure tests, such as D
 * @param name name that is unique in a report
 * @param value measured value
 * @param unit unit of the value; empty for ratios and counts
 * @param isLeast whether the bound is a minimum; otherwise a maximum
 * @param bound smallest or largest value that passes
 * @param judged whether a missed bound is a failure. Missed times aren't judged on a machine known
 *     to be busy.
 * @param passed whether the value is within its bound or isn't judged
 * @param sentence description of the measurement
 */
public record WanFigure(
    String test,
    String name,
    double value,
    String unit,
    boolean isLeast,
    double bound,
    boolean judged,
    boolean passed,
    String sentence) {
  /** Returns a figure whose value may not exceed a bound. */
  public static WanFigure atMost(
      String test, String name, double value, String unit, double bound, String sentence) {
    return new WanFigure(test, name, value, unit, false, bound, true, value <= bound, sentence);
  }

  /** Returns a figure whose value may not be less than a bound. */
  public static WanFigure atLeast(
      String test, String name, double value, String unit, double bound, String sentence) {
    return new WanFigure(test, name, value, unit, true, bound, true, value >= bound, sentence);
  }

  /** Returns a copy whose missed bound is no failure. */
  public WanFigure unjudged() {
    return new WanFigure(test, name, value, unit, isLeast, bound, false, true, sentence);
  }

  /** Returns value and bound as text. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "%s%s, %s %s%s",
        number(value),
        unit.isEmpty() ? "" : " " + unit,
        isLeast ? "at least" : "at most",
        number(bound),
        judged ? "" : " (not judged)");
  }

  private static String number(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e9
        ? String.format(Locale.ROOT, "%,.0f", number)
        : String.format(Locale.ROOT, Math.abs(number) < 10 ? "%.3f" : "%.1f", number);
  }
}
