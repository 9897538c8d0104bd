package io.heddle.switching;

import java.util.List;

/** Runner of short system commands. */
@FunctionalInterface
public interface CommandRunner {
  /**
   * Runs a command to its end.
   *
   * @param input text for the command's standard input
   * @return output of the command
   * @throws RuntimeException if the command fails, with its error output
   */
  String run(List<String> command, String input);
}
