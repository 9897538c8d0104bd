package io.heddle.tools.simulate;

import io.heddle.sim.patterns.TrafficPattern;
import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converter of a traffic pattern's name on the command line. */
final class PatternName implements ITypeConverter<TrafficPattern> {
  @Override
  public TrafficPattern convert(String text) {
    return Arrays.stream(TrafficPattern.values())
        .filter(each -> each.toString().equalsIgnoreCase(text))
        .findFirst()
        .orElseThrow(() ->
            new TypeConversionException(
                "'"
                    + text
                    + "' is not one of "
                    + Arrays.stream(TrafficPattern.values())
                        .map(TrafficPattern::toString)
                        .collect(Collectors.joining(", "))));
  }
}
