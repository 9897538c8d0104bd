package io.heddle.bridge.config;

import io.heddle.daemon.ConfigText;
import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Refusal of lines in the syntax before 0.1.0, which consist of a keyword, words and {@code
 * key=value} pairs. The message contains the lines to write instead.
 */
final class OldSyntax {
  private static final Pattern LINE =
      Pattern.compile("(bridge|fabric|group|peer|proxy|redundancy|unicast)(?:\\s++(?!=)(.*))?");

  private OldSyntax() {}

  /**
   * @throws HeddleException for the first line in the old syntax
   */
  static void refuse(String file, List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      String line = ConfigText.withoutComment(lines.get(i));
      Matcher old = LINE.matcher(line);
      if (old.matches()) {
        String rest = old.group(2) == null ? "" : old.group(2);
        throw ConfigText.failure(
            file,
            i + 1,
            ConfigText.quoted(line)
                + " is the syntax before 0.1.0; write "
                + translate(old.group(1), rest));
      }
    }
  }

  private static String translate(String keyword, String rest) {
    List<String> words = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (String part : rest.isEmpty() ? new String[0] : rest.split("\\s+")) {
      if (part.contains("=")) {
        keys.add(part.replaceFirst("=", " = "));
      } else {
        words.add(part);
      }
    }
    if (keyword.equals("bridge")) {
      keys.addFirst("name = " + String.join(" ", words));
      return lines(keys) + ", above all sections";
    }
    if (keyword.equals("fabric") && words.size() > 1) {
      keys.addFirst("kind = " + words.removeLast());
    }
    String heading = "[" + (keyword + " " + String.join(" ", words)).strip() + "]";
    return keys.isEmpty() ? heading : heading + ", and under it " + lines(keys);
  }

  private static String lines(List<String> keys) {
    return String.join(", ", keys) + (keys.size() > 1 ? ", each in a line of its own" : "");
  }
}
