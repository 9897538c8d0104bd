package io.heddle.cli.kit;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parser of sizes in bytes on the command line: {@code 8}, {@code 64K}, {@code 64MiB}, {@code 1G}.
 * Units are powers of 1024.
 */
public final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,15})\\s*([KMG]?)(?:i?B)?", Pattern.CASE_INSENSITIVE);
  private static final String UNITS = "KMG";

  @Override
  public Long convert(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text + "' is not a size such as 8, 64K, 64M or 1G");
    }
    int power =
        matcher.group(2).isEmpty()
            ? 0
            : 1 + UNITS.indexOf(matcher.group(2).toUpperCase(java.util.Locale.ROOT));
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << 10 * power);
    } catch (ArithmeticException tooLarge) {
      throw new TypeConversionException("'" + text + "' is more than a 64-bit number holds");
    }
  }
}
