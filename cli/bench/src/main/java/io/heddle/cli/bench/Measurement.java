package io.heddle.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Something that another command of heddle measures.
 *
 * @param what for people
 * @param full its arguments
 * @param quick its arguments where there is little time
 * @param jsonFile whether JSON goes to the file that is named last, instead of standard output
 * @param limitSeconds after which it is ended
 */
record Measurement(
    String name,
    String what,
    List<String> full,
    List<String> quick,
    boolean jsonFile,
    int limitSeconds,
    Reading reading) {
  /** From the command's JSON to figures. */
  interface Reading {
    List<Figure> read(JsonNode report);
  }

  /** As people write it, without the file. */
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
