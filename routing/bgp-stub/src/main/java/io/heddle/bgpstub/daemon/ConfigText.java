package io.heddle.bgpstub.daemon;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * A configuration file as text: {@code key = value} lines, then sections {@code [peer name]} with
 * lines of their own; {@code #} begins a comment.
 */
final class ConfigText {
  /** A value and where it stands. */
  record Line(int number, String value) {}

  /** Lines under one heading; the first section has none. */
  static final class Section {
    final String name;
    final int number;
    private final String file;
    private final Map<String, Line> lines = new LinkedHashMap<>();

    private Section(String file, String name, int number) {
      this.file = file;
      this.name = name;
      this.number = number;
    }

    /**
     * The value of a key.
     *
     * @param standard what holds where the key isn't there
     * @param range what is allowed, as a clause
     * @throws HeddleException that names file, line, key, value and what is allowed
     */
    <T> T get(String key, T standard, String range, Function<String, T> parser) {
      Line line = lines.get(key);
      if (line == null) {
        return standard;
      }
      try {
        return parser.apply(line.value);
      } catch (IllegalArgumentException malformed) {
        throw fail(line.number, key + " = " + line.value + " isn't " + range);
      }
    }

    long number(String key, long standard, long least, long most) {
      return get(
          key,
          standard,
          "a whole number from " + least + " to " + most,
          text -> {
            long value = Long.decode(text);
            if (value < least || value > most) {
              throw new IllegalArgumentException("out of range");
            }
            return value;
          });
    }

    boolean flag(String key, boolean standard) {
      return get(
          key,
          standard,
          "yes or no",
          text -> {
            if (!text.equals("yes") && !text.equals("no")) {
              throw new IllegalArgumentException("neither");
            }
            return text.equals("yes");
          });
    }

    String text(String key, String standard) {
      return get(key, standard, "a text", Function.identity());
    }

    HeddleException fail(int line, String what) {
      return new HeddleException(file + " line " + line + ": " + what);
    }

    /** A mistyped key is worth more than what follows from its absence. */
    void refuseUnknown(Set<String> known) {
      lines.forEach((key, line) -> {
        if (!known.contains(key)) {
          throw fail(
              line.number,
              "there is no key '"
                  + key
                  + "' "
                  + (name.isEmpty() ? "outside of a section" : "in [peer " + name + "]")
                  + "; did you mean "
                  + NearestName.of(key, new TreeSet<>(known))
                  + "?");
        }
      });
    }
  }

  private ConfigText() {}

  /**
   * The sections in order, the one without heading first.
   *
   * @param file its name, for messages
   * @throws HeddleException that names file, line and what is wrong
   */
  static List<Section> parse(String file, List<String> lines) {
    List<Section> sections = new ArrayList<>();
    Section section = new Section(file, "", 0);
    sections.add(section);
    for (int i = 0; i < lines.size(); i++) {
      int number = i + 1;
      String line = lines.get(i).replaceFirst("(^|\\s)#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      if (line.startsWith("[")) {
        String name = heading(section, number, line);
        for (Section other : sections) {
          if (other.name.equals(name)) {
            throw section.fail(
                number, "there is a [peer " + name + "] already, in line " + other.number);
          }
        }
        section = new Section(file, name, number);
        sections.add(section);
        continue;
      }
      int equals = line.indexOf('=');
      if (equals <= 0) {
        throw section.fail(number, "'" + line + "' is neither key = value nor [peer name]");
      }
      String key = line.substring(0, equals).strip();
      Line before =
          section.lines.putIfAbsent(key, new Line(number, line.substring(equals + 1).strip()));
      if (before != null) {
        throw section.fail(number, key + " is said twice, first in line " + before.number);
      }
    }
    return sections;
  }

  private static String heading(Section section, int number, String line) {
    if (!line.matches("\\[peer\\s+[A-Za-z0-9._-]{1,32}]")) {
      throw section.fail(
          number,
          "'"
              + line
              + "' isn't [peer name], where the name has 1 to 32 letters, digits, dots, dashes or"
              + " underscores");
    }
    return line.substring("[peer".length(), line.length() - 1).strip();
  }
}
