package io.heddle.tools.demo;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Value {@code K@T} or {@code K@T:RESTORE} of {@code --kill-plane}.
 *
 * @param plane cut plane, from 1
 * @param cutSeconds time of the cut, in seconds since the first bytes
 * @param restoreSeconds time of the restoration, in seconds since the first bytes; null if the
 *     plane stays cut
 */
record KillPlaneOption(int plane, double cutSeconds, @Nullable Double restoreSeconds) {
  static final double LONGEST_SECONDS = 600;

  static final class Converter implements ITypeConverter<KillPlaneOption> {
    @Override
    public KillPlaneOption convert(String value) {
      String[] halves = value.split("@", -1);
      if (halves.length != 2) {
        throw refused(value, "exactly one @ must separate plane and time");
      }
      String[] times = halves[1].split(":", -1);
      if (times.length > 2) {
        throw refused(value, "there are more than two times");
      }
      int plane;
      try {
        plane = Integer.parseInt(halves[0]);
      } catch (NumberFormatException notANumber) {
        throw refused(value, "\"" + halves[0] + "\" is not the number of a plane");
      }
      double cut = seconds(value, times[0]);
      Double restore = times.length == 1 ? null : Double.valueOf(seconds(value, times[1]));
      if (restore != null && restore <= cut) {
        throw refused(value, "the plane would be restored before it is cut");
      }
      return new KillPlaneOption(plane, cut, restore);
    }

    private static double seconds(String whole, String text) {
      try {
        double seconds = Double.parseDouble(text);
        if (seconds >= 0.5 && seconds <= LONGEST_SECONDS) {
          return seconds;
        }
      } catch (NumberFormatException notANumber) {
        /* The exception below names the text. */
      }
      throw refused(whole, "\"" + text + "\" is not a time from 0.5 to 600 seconds");
    }

    private static TypeConversionException refused(String value, String why) {
      return new TypeConversionException(
          "\"" + value + "\": " + why + "; expected is K@T or K@T:RESTORE, such as 2@3:6");
    }
  }

  /** Returns the duration in seconds of a run that shows the effect of the last change. */
  double seconds() {
    return (restoreSeconds == null ? cutSeconds : restoreSeconds) + 3;
  }
}
