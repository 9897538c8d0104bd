package io.heddle.tools;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Refuses options with sentences for people. */
final class OptionRange {
  private final CommandLine line;

  OptionRange(CommandLine.Model.@Nullable CommandSpec spec) {
    line = java.util.Objects.requireNonNull(spec).commandLine();
  }

  /**
   * @throws ParameterException where the value isn't from the least to the most
   */
  void require(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw refusal(option + " " + value + " is not in " + least + " to " + most);
    }
  }

  ParameterException refusal(String sentence) {
    return new ParameterException(line, sentence);
  }
}
