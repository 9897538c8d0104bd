package io.heddle.daemon;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Text of a configuration file: {@code key = value} lines, then sections {@code [kind name]} with
 * their own lines; {@code #} begins a comment.
 */
public final class ConfigText {
  /** Value with its line number. */
  private record Line(int number, String value) {}

  /** Lines under one heading. */
  public static final class Section {
    private final String file;
    private final ConfigKeys keys;
    private final String name;
    private final int number;
    private final Map<String, Line> lines = new LinkedHashMap<>();

    private Section(String file, ConfigKeys keys, String name, int number) {
      this.file = file;
      this.keys = keys;
      this.name = name;
      this.number = number;
    }

    /** Returns the name in the heading; an empty text if there is none. */
    public String name() {
      return name;
    }

    /** Returns the heading, as {@code [peer a]}; a description for the lines above all sections. */
    public String title() {
      return number == 0
          ? "the part above all sections"
          : "[" + (keys.kind() + " " + name).strip() + "]";
    }

    /** Returns the number of the heading's line, from 1; 0 for the lines above all sections. */
    public int number() {
      return number;
    }

    /** Returns whether the section has a key. */
    public boolean has(ConfigKey<?> key) {
      return lines.containsKey(key.name());
    }

    /**
     * Returns the value of a key; its default if the key is missing.
     *
     * @throws HeddleException that names file, line, key, value and the allowed values
     */
    public <T extends @Nullable Object> T get(ConfigKey<T> key) {
      return get(key, key.standard());
    }

    /** Returns the value of a key as {@link #get(ConfigKey)} does, with another default. */
    public <T extends @Nullable Object> T get(ConfigKey<T> key, T standard) {
      Line line = lines.get(key.name());
      if (line == null) {
        return standard;
      }
      if (line.value.isEmpty()) {
        throw failure(file, line.number, key.name() + " is empty; allowed is " + key.allowed());
      }
      try {
        return key.parser().apply(line.value);
      } catch (ConfigKeys.UnknownWord unknown) {
        throw refuse(key, "isn't " + key.allowed() + unknown.getMessage());
      } catch (IllegalArgumentException malformed) {
        throw keys.isSecret(key)
            ? fail(title() + ": " + key.name() + " isn't " + key.allowed())
            : refuse(key, "isn't " + key.allowed());
      }
    }

    /**
     * Returns the value of a key that must be set.
     *
     * @throws HeddleException if the key is missing, and as {@link #get(ConfigKey)}
     */
    public <T> T require(ConfigKey<? extends @Nullable T> key) {
      if (!has(key)) {
        throw fail("%s has no '%s'; allowed is %s".formatted(title(), key.name(), key.allowed()));
      }
      return Objects.requireNonNull(get(key));
    }

    /**
     * Parses a part of the name in the heading.
     *
     * @param allowed allowed texts, as the end of a sentence
     * @param parser function that turns text into a value, or throws IllegalArgumentException
     */
    public <T> T parseName(String part, String allowed, Function<String, T> parser) {
      try {
        return parser.apply(part);
      } catch (IllegalArgumentException malformed) {
        throw fail(quoted(part) + " isn't " + allowed);
      }
    }

    /** Returns an exception about the value of an existing key. */
    public HeddleException refuse(ConfigKey<?> key, String reason) {
      Line line = Objects.requireNonNull(lines.get(key.name()));
      return failure(file, line.number, key.name() + " = " + clipped(line.value) + " " + reason);
    }

    /** Returns an exception about the section, with the line of its heading. */
    public HeddleException fail(String reason) {
      return number == 0
          ? new HeddleException(file + ": " + reason)
          : failure(file, number, reason);
    }

    private List<String> changesTo(Section next) {
      return keys.all().stream()
          .filter(key -> !isSame(key, next))
          .map(key -> changeOf(key, next))
          .toList();
    }

    /* A default that isn't a value, such as "that of all peers", is unlike any value. */
    private boolean isSame(ConfigKey<?> key, Section next) {
      return (has(key) == next.has(key) || key.hasDefaultValue())
          && Objects.equals(get(key), next.get(key));
    }

    private String changeOf(ConfigKey<?> key, Section next) {
      String subject = number == 0 ? key.name() : key.name() + " of " + title();
      if (keys.isFixed(key)) {
        throw new HeddleException(
            "%s is %s and can't become %s while the daemon runs: restart it"
                .formatted(subject, shown(key), next.shown(key)));
      }
      return subject + " becomes " + next.shown(key) + ", was " + shown(key);
    }

    private String shown(ConfigKey<?> key) {
      Line line = lines.get(key.name());
      if (line == null) {
        return key.hasDefaultValue() ? key.defaultText() : "unset (" + key.defaultText() + ")";
      }
      return keys.isSecret(key) ? "a secret" : clipped(line.value);
    }

    private String change(String verb) {
      if (keys.hasFixedKeys()) {
        throw new HeddleException(
            title() + " can't " + verb + " while the daemon runs: restart it");
      }
      return title() + " " + verb + "s";
    }

    private void put(int at, String key, String value) {
      String removal = keys.reasonOfRemoval(key);
      if (removal != null) {
        throw failure(file, at, "the key '" + key + "' is gone, " + removal);
      }
      ConfigKey<?> declared = keys.named(key);
      if (declared == null) {
        throw failure(
            file,
            at,
            "there is no key "
                + quoted(key)
                + " "
                + (number == 0 ? "outside of a section" : "in " + title())
                + (keys.names().isEmpty()
                    ? ", which has none"
                    : "; did you mean " + NearestName.of(key, new TreeSet<>(keys.names())) + "?"));
      }
      Line before = lines.putIfAbsent(key, new Line(at, value));
      if (before != null) {
        throw failure(file, at, key + " occurs twice, first in line " + before.number);
      }
      /* A value is checked even if the product doesn't use it beside the other values. */
      get(declared);
    }

    /* Refuses two files under one name: the daemon would write over its own file. */
    private void requireDistinctFiles() {
      Map<Path, String> owners = new HashMap<>();
      for (ConfigKey<?> key : keys.all()) {
        if (get(key) instanceof Path path) {
          String other = owners.putIfAbsent(path.normalize(), key.name());
          if (other != null) {
            throw fail("%s and %s can't both be %s".formatted(other, key.name(), path));
          }
        }
      }
    }
  }

  private static final int MOST_BYTES = 16 << 20;
  private static final int MOST_QUOTED = 120;

  /** Maximum number of changes in a line of the log. */
  private static final int MOST_CHANGES = 20;

  private final String file;
  private final Section top;
  private final Map<String, Section> sections = new LinkedHashMap<>();
  private Section last;

  private ConfigText(String file, ConfigKeys top) {
    this.file = file;
    this.top = new Section(file, top, "", 0);
    last = this.top;
  }

  /**
   * Reads the text of a file, without the byte order mark that some editors write.
   *
   * @throws HeddleException if it can't be read
   */
  public static String read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("it has more than " + (MOST_BYTES >> 20) + " MiB");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return text.startsWith("\uFEFF") ? text.substring(1) : text;
    } catch (IOException failure) {
      throw new HeddleException(
          "the configuration %s can't be read: %s; %s it, or name another with --config"
              .formatted(
                  file,
                  FileFailure.reason(failure),
                  failure instanceof NoSuchFileException ? "write" : "mend"),
          failure);
    }
  }

  /**
   * Parses a text.
   *
   * @param file name of the file, for messages
   * @param top keys above all sections
   * @param kinds allowed kinds of sections
   * @throws HeddleException that names file, line and error
   */
  public static ConfigText parse(String file, String content, ConfigKeys top, ConfigKeys... kinds) {
    ConfigText text = new ConfigText(file, top);
    List<String> lines = content.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = withoutComment(lines.get(i));
      if (!line.isEmpty()) {
        requireVisible(file, i + 1, line);
        text.take(i + 1, line, kinds);
      }
    }
    text.top.requireDistinctFiles();
    return text;
  }

  /*
   * Refuses characters that look like a space or like nothing, since a message with them would seem
   * to contradict itself.
   */
  private static void requireVisible(String file, int number, String line) {
    line.codePoints()
        .filter(each -> each != ' ' && each != '\t')
        .filter(each ->
            Character.isISOControl(each)
                || Character.isSpaceChar(each)
                || Character.getType(each) == Character.FORMAT)
        .findFirst()
        .ifPresent(each -> {
          throw failure(
              file,
              number,
              String.format(
                  Locale.ROOT,
                  "the line has the invisible character U+%04X; remove it, or write a space",
                  each));
        });
  }

  /** Returns a text of the file in quotation marks, for a message; a long text is shortened. */
  public static String quoted(String text) {
    return "'" + clipped(text) + "'";
  }

  private static String clipped(String text) {
    return text.length() <= MOST_QUOTED ? text : text.substring(0, MOST_QUOTED) + "...";
  }

  private void take(int number, String line, ConfigKeys... kinds) {
    if (line.startsWith("[")) {
      last = section(number, line, kinds);
      Section before = sections.putIfAbsent(last.title(), last);
      if (before != null) {
        throw failure(
            file,
            number,
            "there is a %s already, in line %s".formatted(last.title(), before.number));
      }
      return;
    }
    int equals = line.indexOf('=');
    if (equals <= 0) {
      throw failure(file, number, quoted(line) + " is neither key = value nor " + headings(kinds));
    }
    last.put(number, line.substring(0, equals).strip(), line.substring(equals + 1).strip());
  }

  private Section section(int number, String line, ConfigKeys... kinds) {
    for (ConfigKeys each : kinds) {
      String name =
          line.endsWith("]") ? each.nameIn(line.substring(1, line.length() - 1).strip()) : null;
      if (name != null) {
        return new Section(file, each, name, number);
      }
    }
    throw failure(
        file,
        number,
        quoted(line)
            + " isn't "
            + headings(kinds)
            + (Stream.of(kinds).anyMatch(ConfigKeys::hasPlainNames) ? ConfigKeys.NAME_TEXT : ""));
  }

  private static String headings(ConfigKeys... kinds) {
    return Stream.of(kinds).map(ConfigKeys::heading).collect(Collectors.joining(" nor "));
  }

  /** Returns a line without its comment, and without spaces at its ends. */
  public static String withoutComment(String line) {
    return line.replaceFirst("(^|\\s)#.*", "").strip();
  }

  /** Returns the lines above all sections. */
  public Section top() {
    return top;
  }

  /** Returns all sections of the file in order, without the lines above them. */
  public List<Section> sections() {
    return List.copyOf(sections.values());
  }

  /** Returns the sections of a kind, in order. */
  public List<Section> sections(ConfigKeys kind) {
    return sections().stream().filter(each -> each.keys == kind).toList();
  }

  /**
   * Compares this text, with which a daemon runs, with its replacement. Values are compared, not
   * their spelling. Both texts must have been parsed with the same keys.
   *
   * @return the differences, for the log
   * @throws HeddleException for a difference that needs a restart
   */
  public String changeTo(ConfigText next) {
    List<String> changes = new ArrayList<>(top.changesTo(next.top));
    int same = 0;
    for (Section section : sections.values()) {
      Section then = next.sections.get(section.title());
      List<String> own = then == null ? List.of(section.change("end")) : section.changesTo(then);
      changes.addAll(own);
      same += own.isEmpty() ? 1 : 0;
    }
    next.sections.values().stream()
        .filter(section -> !sections.containsKey(section.title()))
        .forEach(section -> changes.add(section.change("begin")));
    int more = changes.size() - MOST_CHANGES;
    return (changes.isEmpty() ? "nothing changes" : "")
        + changes.stream().limit(MOST_CHANGES).collect(Collectors.joining("; "))
        + (more > 0 ? "; and " + more + " more changes" : "")
        + "; unchanged sections: "
        + same;
  }

  /** Returns an exception about a line of a file. */
  public static HeddleException failure(String file, int line, String reason) {
    return new HeddleException(file + " line " + line + ": " + reason);
  }
}
