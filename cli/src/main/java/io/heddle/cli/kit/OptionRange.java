package io.heddle.cli.kit;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Check of option values. A wrong value is reported to the user as a sentence. */
public final class OptionRange {
  private final CommandLine line;

  public OptionRange(CommandLine.Model.@Nullable CommandSpec spec) {
    line = java.util.Objects.requireNonNull(spec).commandLine();
  }

  /**
   * @throws ParameterException if the value is not in the range from least to most
   */
  public void require(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw refusal(option + " " + value + " is not in " + least + " to " + most);
    }
  }

  public ParameterException refusal(String sentence) {
    return new ParameterException(line, sentence);
  }
}
