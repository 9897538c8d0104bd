package io.heddle.tools.simulate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Temporary failure of a plane, which drops everything meanwhile.
 *
 * @param plane failing plane
 * @param startUs start of the failure, µs since the beginning of the run
 * @param lengthUs duration, µs
 */
record PlaneFault(int plane, int startUs, int lengthUs) {
  private static final Pattern FORM = Pattern.compile("(\\d{1,3})@(\\d{1,9}):(\\d{1,9})");

  /** Converter of the option's value {@code PLANE@START:LENGTH}, with times in microseconds. */
  static final class Form implements ITypeConverter<PlaneFault> {
    @Override
    public PlaneFault convert(String text) {
      Matcher found = FORM.matcher(text.strip());
      if (!found.matches() || Integer.parseInt(found.group(3)) == 0) {
        throw new TypeConversionException(
            "'" + text + "' is not PLANE@START:LENGTH in microseconds, such as 0@100:5000");
      }
      return new PlaneFault(
          Integer.parseInt(found.group(1)),
          Integer.parseInt(found.group(2)),
          Integer.parseInt(found.group(3)));
    }
  }
}
