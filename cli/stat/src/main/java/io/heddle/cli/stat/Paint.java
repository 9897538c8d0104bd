package io.heddle.cli.stat;

import java.util.Map;

/**
 * Colours by escape sequences, or none.
 *
 * @param coloured whether there are any
 */
record Paint(boolean coloured) {
  /** None where the output is no terminal, is a plain one, or NO_COLOR (no-color.org) is set. */
  static Paint of(Map<String, String> environment, boolean terminal) {
    return new Paint(
        terminal
            && environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !environment.getOrDefault("TERM", "dumb").equals("dumb"));
  }

  String bold(String text) {
    return in("1", text);
  }

  String dim(String text) {
    return in("2", text);
  }

  String red(String text) {
    return in("31", text);
  }

  String yellow(String text) {
    return in("33", text);
  }

  private String in(String code, String text) {
    return coloured ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }
}
