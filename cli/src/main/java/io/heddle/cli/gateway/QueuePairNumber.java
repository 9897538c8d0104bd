package io.heddle.cli.gateway;

import io.heddle.platform.NumberText;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parser of queue pair numbers on the command line, as tools print them: {@code 17} or {@code
 * 0x11}.
 */
final class QueuePairNumber implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String text) {
    try {
      return Math.toIntExact(NumberText.parse(text));
    } catch (IllegalArgumentException | ArithmeticException malformed) {
      throw new TypeConversionException("'" + text + "' isn't a number such as 17 or 0x11");
    }
  }
}
