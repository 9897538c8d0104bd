package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measurement that runs another heddle command.
 *
 * @param description description in lists and reports
 * @param full arguments of the full run
 * @param quick arguments of the quick run
 * @param jsonFile whether the command writes JSON to the file named by its last argument, instead
 *     of standard output
 * @param limitSeconds seconds after which the command is ended
 * @param reader conversion of the command's JSON to figures
 * @param requirements programs and libraries without which the figures would be missing or would
 *     measure another configuration
 */
record Measurement(
    String name,
    String description,
    List<String> full,
    List<String> quick,
    boolean jsonFile,
    int limitSeconds,
    FigureReader reader,
    List<Requirement> requirements) {
  Measurement(
      String name,
      String what,
      List<String> full,
      List<String> quick,
      boolean jsonFile,
      int limitSeconds,
      FigureReader reader) {
    this(name, what, full, quick, jsonFile, limitSeconds, reader, List.of());
  }

  /** Conversion of a command's JSON to figures. */
  interface FigureReader {
    List<Figure> read(JsonNode report);
  }

  /** Returns a copy that isn't started if a requirement is missing. */
  Measurement requiring(Requirement... all) {
    return new Measurement(
        name, description, full, quick, jsonFile, limitSeconds, reader, List.of(all));
  }

  /**
   * Returns a line with the requirements that this machine lacks, and how to get them; empty if
   * none is missing.
   */
  Optional<String> missing() {
    List<String> all =
        requirements.stream()
            .map(Requirement::missing)
            .flatMap(Optional::stream)
            .distinct()
            .toList();
    return all.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", all));
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
    if (jsonFile) {
      arguments.add(file);
    }
    return arguments;
  }
}
