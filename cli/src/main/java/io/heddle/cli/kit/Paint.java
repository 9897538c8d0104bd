package io.heddle.cli.kit;

import java.util.Map;

/**
 * Formatter of text in colours, by escape sequences; without colours it returns the text as it is.
 *
 * @param coloured whether colours are on
 */
public record Paint(boolean coloured) {
  /**
   * Returns a formatter. It uses no colours if the output is no terminal, TERM is dumb, or NO_COLOR
   * (no-color.org) is set.
   */
  public static Paint of(Map<String, String> environment, boolean terminal) {
    return new Paint(
        terminal
            && environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !environment.getOrDefault("TERM", "dumb").equals("dumb"));
  }

  public String bold(String text) {
    return in("1", text);
  }

  public String dim(String text) {
    return in("2", text);
  }

  public String red(String text) {
    return in("31", text);
  }

  public String yellow(String text) {
    return in("33", text);
  }

  private String in(String code, String text) {
    return coloured ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }
}
