package io.heddle.cli.kit.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Axis of a plot: label, range and ticks.
 *
 * @param label name of the quantity, with its unit
 * @param isLog whether the axis is logarithmic
 * @param least value at the beginning of the axis; above 0 if logarithmic
 * @param most value at the end of the axis, more than the least
 */
record Axis(String label, boolean isLog, double least, double most) {
  private static final int MARKS = 6;
  private static final double[] STEPS = {1, 2, 2.5, 5, 10};
  private static final double MANY = 1e4;

  /** Returns an axis that covers all these values; a linear one begins at 0. */
  static Axis over(String label, boolean isLog, double[] values) {
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    for (double each : values) {
      if (each > 0) {
        least = Math.min(least, each);
      }
      most = Math.max(most, each);
    }
    if (most <= 0) {
      return new Axis(label, false, 0, 1);
    }
    if (!isLog) {
      double step = step(most);
      return new Axis(label, false, 0, Math.ceil(most / step - 1e-9) * step);
    }
    double from = Math.pow(10, Math.floor(Math.log10(least)));
    double to = Math.pow(10, Math.ceil(Math.log10(most) - 1e-9));
    return new Axis(label, true, from, Math.max(to, 10 * from));
  }

  /* Returns the smallest round step between ticks that gives at most MARKS steps. */
  private static double step(double most) {
    double power = Math.pow(10, Math.floor(Math.log10(most / MARKS)));
    for (double each : STEPS) {
      if (most / (each * power) <= MARKS) {
        return each * power;
      }
    }
    return 10 * power;
  }

  /** Returns a value's position on the axis, 0 to 1. Values beyond an end are at that end. */
  double place(double value) {
    double place =
        isLog
            ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
            : (value - least) / (most - least);
    return Math.clamp(place, 0, 1);
  }

  List<Double> marks() {
    List<Double> marks = new ArrayList<>();
    if (isLog) {
      for (double at = least; at <= most * 1.001; at *= 10) {
        marks.add(at);
      }
      return marks;
    }
    double step = step(most);
    for (int i = 0; i * step <= most * 1.0001; i++) {
      marks.add(i * step);
    }
    return marks;
  }

  /** Returns the label of a tick. */
  static String text(double value) {
    if (value >= MANY) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("0+$", "").replaceAll("\\.$", "");
  }
}
