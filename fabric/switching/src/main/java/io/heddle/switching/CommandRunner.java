package io.heddle.switching;

import java.util.List;

/** Runs a short command of the system to its end. */
@FunctionalInterface
public interface CommandRunner {
  /**
   * @param input for its standard input
   * @return its output
   * @throws RuntimeException where it fails, with what it said
   */
  String run(List<String> command, String input);
}
