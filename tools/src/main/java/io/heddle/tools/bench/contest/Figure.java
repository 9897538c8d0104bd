package io.heddle.tools.bench.contest;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Quantity that was measured several times.
 *
 * @param name name that is unique within the figure's measurement, such as {@code bandwidth 1M, 1
 *     plane}
 * @param unit unit of the values, such as {@code Gbit/s}; empty for a ratio
 * @param median median of the values
 * @param least minimum of the values
 * @param most maximum of the values
 * @param bound bound that the measurement itself sets for the median; null if none
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Figure(
    String name, String unit, double median, double least, double most, @Nullable Bound bound) {
  public Figure(String name, String unit, double median, double least, double most) {
    this(name, unit, median, least, most, null);
  }

  public static Figure of(String name, String unit, List<Double> values) {
    Quantiles all = Quantiles.ofFinite(values);
    return new Figure(name, unit, all.median(), all.least(), all.most());
  }

  /**
   * Returns a figure whose median, minimum and maximum are one value: a single measurement, or a
   * summary.
   */
  public static Figure of(String name, String unit, double value) {
    return new Figure(name, unit, value, value, value);
  }

  public Figure within(@Nullable Bound other) {
    return new Figure(name, unit, median, least, most, other);
  }

  /** Returns the median with its unit, and minimum and maximum if they differ from it. */
  public String text() {
    String spread =
        least == most || Double.isNaN(least)
            ? ""
            : " (" + number(least) + " to " + number(most) + ")";
    return number(median) + (unit.isEmpty() ? "" : " " + unit) + spread;
  }

  /**
   * Formats a value with three digits: three decimals below 1, two below 10, one below 100, none
   * from there on.
   */
  public static String number(double value) {
    double size = Math.abs(value);
    return String.format(
        Locale.ROOT,
        size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f",
        value);
  }
}
