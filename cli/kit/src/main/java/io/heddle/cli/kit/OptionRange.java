package io.heddle.cli.kit;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Refuses options with sentences for people. */
public final class OptionRange {
  private final CommandLine line;

  public OptionRange(CommandLine.Model.@Nullable CommandSpec spec) {
    line = java.util.Objects.requireNonNull(spec).commandLine();
  }

  /**
   * @throws ParameterException where the value isn't from the least to the most
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
