package io.heddle.cli.kit;

import java.util.Locale;

/** Formatter of numbers for people, in few columns. */
public final class Units {
  private static final String[] BINARY = {"", "K", "M", "G", "T", "P"};
  private static final String[] DECIMAL = {"", "k", "M", "G", "T"};

  private Units() {}

  /** Returns a number of bytes with a unit of powers of 1024, in at most five characters. */
  public static String bytes(long bytes) {
    return scaled(bytes, 1024, BINARY);
  }

  /** Returns a count with a unit of powers of 1000, in at most five characters. */
  public static String count(double count) {
    return scaled(count, 1000, DECIMAL);
  }

  private static String scaled(double value, int base, String[] names) {
    double left = value;
    int unit = 0;
    while (left >= base && unit < names.length - 1) {
      left /= base;
      unit++;
    }
    return (left == Math.rint(left) && unit == 0 || left >= 100
            ? String.format(Locale.ROOT, "%.0f", left)
            : String.format(Locale.ROOT, left < 10 ? "%.2f" : "%.1f", left))
        + names[unit];
  }

  public static String time(long ns) {
    if (ns == 0) {
      return "-";
    }
    return ns < 1_000_000
        ? String.format(Locale.ROOT, ns < 100_000 ? "%.1f us" : "%.0f us", ns / 1e3)
        : ns < 1_000_000_000
            ? String.format(Locale.ROOT, ns < 100_000_000 ? "%.1f ms" : "%.0f ms", ns / 1e6)
            : String.format(Locale.ROOT, "%.1f s", ns / 1e9);
  }

  public static String age(long ms) {
    long seconds = Math.max(0, ms) / 1000;
    return seconds < 100
        ? seconds + "s"
        : seconds < 6000
            ? seconds / 60 + "m"
            : seconds < 100 * 3600 ? seconds / 3600 + "h" : seconds / 86_400 + "d";
  }

  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f%%", 100 * share);
  }

  /** Returns the text, cut to this number of characters; an ellipsis marks the cut. */
  public static String cut(String text, int width) {
    return text.length() <= width ? text : width < 2 ? "" : text.substring(0, width - 1) + "…";
  }
}
