package io.heddle.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Measurement that runs another heddle command.
 *
 * @param description description in lists and reports
 * @param full arguments of the full run
 * @param quick arguments of the quick run
 * @param reader reader of the command's JSON
 * @param limitSeconds seconds after which the command is ended
 * @param requirements software without which the figures would be missing or would measure another
 *     configuration
 */
record Measurement(
    String name,
    String description,
    List<String> full,
    List<String> quick,
    FigureReader reader,
    int limitSeconds,
    List<Requirement> requirements) {
  /** Returns whether the command writes JSON to the file that its last argument names. */
  boolean jsonFile() {
    return reader == FigureReader.JMH;
  }

  /**
   * Returns a line with the requirements that this machine lacks, and how to get them; empty if
   * none is missing.
   */
  Optional<String> missing() {
    String all =
        requirements.stream()
            .map(Requirement::missing)
            .flatMap(Optional::stream)
            .distinct()
            .collect(Collectors.joining("; "));
    return all.isEmpty() ? Optional.empty() : Optional.of(all);
  }

  /**
   * Returns the command line as text, without the file argument.
   *
   * @param quickly whether the arguments of the quick run are used
   */
  String command(boolean quickly) {
    return "heddle " + String.join(" ", quickly ? quick : full);
  }

  List<String> arguments(boolean quickly, String file) {
    List<String> arguments = new ArrayList<>(quickly ? quick : full);
    if (jsonFile()) {
      arguments.add(file);
    }
    return arguments;
  }
}
