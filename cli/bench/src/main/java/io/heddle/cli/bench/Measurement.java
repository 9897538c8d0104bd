package io.heddle.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Measurement by another heddle command.
 *
 * @param what description for people
 * @param full arguments of the full run
 * @param quick arguments of the quick run
 * @param jsonFile whether the command writes JSON to the file named by its last argument, instead
 *     of standard output
 * @param limitSeconds time after which the command is ended
 */
record Measurement(
    String name,
    String what,
    List<String> full,
    List<String> quick,
    boolean jsonFile,
    int limitSeconds,
    Reading reading) {
  /** Conversion of a command's JSON to figures. */
  interface Reading {
    List<Figure> read(JsonNode report);
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
