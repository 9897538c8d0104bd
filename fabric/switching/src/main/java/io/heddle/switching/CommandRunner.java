package io.heddle.switching;

import java.util.List;

/** Runner of a short system command. */
@FunctionalInterface
public interface CommandRunner {
  /**
   * @param input for its standard input
   * @return its output
   * @throws RuntimeException if it fails, with its error output
   */
  String run(List<String> command, String input);
}
