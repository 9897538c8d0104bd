package io.heddle.cli.wan.figure;

import java.util.Locale;

/**
 * A figure with its bound.
 *
 * @param test letter of the design's table of what must be shown
 * @param name unique in a report
 * @param value that was measured
 * @param unit empty for ratios and counts
 * @param isLeast whether the bound is the least that holds; otherwise it is the most
 * @param bound that decides
 * @param judged whether a miss counts; times don't where the machine is known to be busy
 * @param holds whether the value is within its bound, or isn't judged
 * @param sentence how it was measured
 */
public record WanFigure(
    String test,
    String name,
    double value,
    String unit,
    boolean isLeast,
    double bound,
    boolean judged,
    boolean holds,
    String sentence) {
  /** A figure that may be this at most. */
  public static WanFigure atMost(
      String test, String name, double value, String unit, double bound, String sentence) {
    return new WanFigure(test, name, value, unit, false, bound, true, value <= bound, sentence);
  }

  /** A figure that has to be this at least. */
  public static WanFigure atLeast(
      String test, String name, double value, String unit, double bound, String sentence) {
    return new WanFigure(test, name, value, unit, true, bound, true, value >= bound, sentence);
  }

  /** The same where a miss doesn't count. */
  public WanFigure unjudged() {
    return new WanFigure(test, name, value, unit, isLeast, bound, false, true, sentence);
  }

  /** Value and bound, for people. */
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
