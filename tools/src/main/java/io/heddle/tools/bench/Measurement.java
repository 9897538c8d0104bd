package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measurement by another heddle command.
 *
 * @param description description for people
 * @param full arguments of the full run
 * @param quick arguments of the quick run
 * @param jsonFile whether the command writes JSON to the file named by its last argument, instead
 *     of standard output
 * @param limitSeconds time after which the command is ended
 * @param reading conversion of the command's JSON to figures
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
    Reading reading,
    List<Requirement> requirements) {
  Measurement(
      String name,
      String what,
      List<String> full,
      List<String> quick,
      boolean jsonFile,
      int limitSeconds,
      Reading reading) {
    this(name, what, full, quick, jsonFile, limitSeconds, reading, List.of());
  }

  /** Conversion of a command's JSON to figures. */
  interface Reading {
    List<Figure> read(JsonNode report);
  }

  /** Returns the same measurement, which isn't started if a requirement is missing. */
  Measurement requiring(Requirement... all) {
    return new Measurement(
        name, description, full, quick, jsonFile, limitSeconds, reading, List.of(all));
  }

  /**
   * Returns a line with all requirements that this machine lacks and their remedies; empty for
   * none.
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

  /** Returns the command line without the file argument. */
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
