package io.heddle.daemon;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parser of a configuration file: {@code key = value} lines, then sections {@code [kind name]} with
 * their own lines; {@code #} begins a comment.
 */
public final class ConfigText {
  /** Value with its line number. */
  private record Line(int number, String value) {}

  /** Lines under one heading; the first section has no heading. */
  public static final class Section {
    /** First word of the heading, or an empty text for the lines before any heading. */
    public final String kind;

    /** Second word of the heading. */
    public final String name;

    /** Line number of the heading, from 1. */
    public final int number;

    private final String file;
    private final Map<String, Line> lines = new LinkedHashMap<>();

    private Section(String file, String kind, String name, int number) {
      this.file = file;
      this.kind = kind;
      this.name = name;
      this.number = number;
    }

    /**
     * Returns the value of a key.
     *
     * @param standard default value, for a missing key
     * @param range allowed values, as the end of a sentence, such as "yes or no"
     * @throws HeddleException that names file, line, key, value and the allowed values
     */
    public <T extends @Nullable Object> T get(
        String key, T standard, String range, Function<String, T> parser) {
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

    /**
     * Returns the value of a key as a whole number, from {@code least} to {@code most}. The prefix
     * 0x makes it hexadecimal.
     */
    public long number(String key, long standard, long least, long most) {
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

    /** Returns the value of a key that is {@code yes} or {@code no}. */
    public boolean flag(String key, boolean standard) {
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

    /** Returns the text of a key. */
    public String text(String key, String standard) {
      return get(key, standard, "a text", Function.identity());
    }

    /** Returns an exception about the value of an existing key. */
    public HeddleException refuse(String key, String what) {
      Line line = java.util.Objects.requireNonNull(lines.get(key));
      return fail(line.number, key + " = " + line.value + " " + what);
    }

    /** Returns an exception about a line of the file. */
    public HeddleException fail(int line, String what) {
      return new HeddleException(file + " line " + line + ": " + what);
    }

    /** Throws if the section has an unknown key; the message suggests the nearest known key. */
    public void refuseUnknown(Set<String> known) {
      lines.forEach((key, line) -> {
        if (!known.contains(key)) {
          throw fail(
              line.number,
              "there is no key '"
                  + key
                  + "' "
                  + (name.isEmpty() ? "outside of a section" : "in [" + kind + " " + name + "]")
                  + "; did you mean "
                  + NearestName.of(key, new TreeSet<>(known))
                  + "?");
        }
      });
    }
  }

  private ConfigText() {}

  /**
   * Returns the sections in order, beginning with the section without heading.
   *
   * @param file name of the file, for error messages
   * @param kinds allowed kinds of sections; empty for a file without sections
   * @throws HeddleException that names file, line and error
   */
  public static List<Section> parse(String file, List<String> lines, List<String> kinds) {
    List<Section> sections = new ArrayList<>();
    Section section = new Section(file, "", "", 0);
    sections.add(section);
    for (int i = 0; i < lines.size(); i++) {
      int number = i + 1;
      String line = lines.get(i).replaceFirst("(^|\\s)#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      if (line.startsWith("[") && !kinds.isEmpty()) {
        String[] words = heading(section, number, line, kinds);
        for (Section other : sections) {
          if (other.kind.equals(words[0]) && other.name.equals(words[1])) {
            throw section.fail(
                number,
                "there is a [%s %s] already, in line %s"
                    .formatted(words[0], words[1], other.number));
          }
        }
        section = new Section(file, words[0], words[1], number);
        sections.add(section);
        continue;
      }
      int equals = line.indexOf('=');
      if (equals <= 0) {
        String wanted =
            kinds.isEmpty()
                ? "' isn't key = value"
                : "' is neither key = value nor " + headings(kinds);
        throw section.fail(number, "'" + line + wanted);
      }
      String key = line.substring(0, equals).strip();
      Line before =
          section.lines.putIfAbsent(key, new Line(number, line.substring(equals + 1).strip()));
      if (before != null) {
        throw section.fail(number, key + " occurs twice, first in line " + before.number);
      }
    }
    return sections;
  }

  private static String headings(List<String> kinds) {
    return kinds.stream().map(kind -> "[" + kind + " name]").collect(Collectors.joining(" nor "));
  }

  private static String[] heading(Section section, int number, String line, List<String> kinds) {
    if (!line.matches("\\[[a-z]+\\s+[A-Za-z0-9._-]{1,32}]")
        || !kinds.contains(line.substring(1).split("\\s")[0])) {
      throw section.fail(
          number,
          "'"
              + line
              + "' isn't "
              + headings(kinds)
              + ", where the name has 1 to 32 letters, digits, dots, dashes or underscores");
    }
    return line.substring(1, line.length() - 1).split("\\s+");
  }
}
