package io.heddle.daemon;

import io.heddle.platform.NearestName;
import io.heddle.platform.NumberText;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Kind of section in a configuration file, with its keys. A product declares each key once, as a
 * constant: parsing, the refusal of unknown keys, the changes that a running daemon accepts and the
 * reference table follow from it.
 *
 * <pre>{@code
 * static final ConfigKeys PEER = ConfigKeys.section("peer");
 * static final ConfigKey<Integer> PORT = PEER.integer("port", 179, 1, 65_535, "TCP port");
 * }</pre>
 */
public final class ConfigKeys {
  private static final String NAMES = "[A-Za-z0-9._-]{1,32}";
  static final String NAME_TEXT =
      ", where the name has 1 to 32 letters, digits, dots, dashes or underscores";

  private static final String WHOLE_NUMBER = "a whole number from ";

  private final String kind;
  private final String heading;
  private final String names;
  private final Map<String, ConfigKey<?>> keys = new LinkedHashMap<>();
  private final Map<String, String> removed = new LinkedHashMap<>();
  private final Set<ConfigKey<?>> fixed = new HashSet<>();
  private final Set<ConfigKey<?>> secrets = new HashSet<>();

  private ConfigKeys(String kind, String heading, String names) {
    this.kind = kind;
    this.heading = heading;
    this.names = names;
  }

  /** Returns the declaration of the lines above all sections. */
  public static ConfigKeys top() {
    return new ConfigKeys("", "", "");
  }

  /** Returns the declaration of a kind of section with a name. */
  public static ConfigKeys section(String kind) {
    return new ConfigKeys(kind, "[" + kind + " name]", NAMES);
  }

  /**
   * Returns the declaration of a kind of section with names of a form of its own.
   *
   * @param heading heading in messages and tables, such as {@code [group ADDRESS]}
   * @param names pattern of the names; empty for a section without a name
   */
  public static ConfigKeys section(String kind, String heading, String names) {
    return new ConfigKeys(kind, heading, names);
  }

  /**
   * Declares a key that earlier versions had.
   *
   * @param reason reason and remedy, as the end of a sentence
   */
  public ConfigKeys removed(String name, String reason) {
    removed.put(name, reason);
    return this;
  }

  /** Returns the reason why a key no longer exists; null if no version had it. */
  @Nullable String reasonOfRemoval(String name) {
    return removed.get(name);
  }

  /**
   * Declares keys whose values can't change while a daemon runs. A section with such a key neither
   * begins nor ends meanwhile.
   */
  public void needRestart(ConfigKey<?>... restarting) {
    for (ConfigKey<?> key : restarting) {
      if (keys.get(key.name()) != key) {
        throw new IllegalStateException(key.name() + " is no key of " + heading);
      }
      fixed.add(key);
    }
  }

  boolean isFixed(ConfigKey<?> key) {
    return fixed.contains(key);
  }

  boolean hasFixedKeys() {
    return !fixed.isEmpty();
  }

  boolean isSecret(ConfigKey<?> key) {
    return secrets.contains(key);
  }

  /** Declares a key. */
  public <T extends @Nullable Object> ConfigKey<T> key(
      String name,
      String allowed,
      T standard,
      String defaultText,
      String meaning,
      Function<String, T> parser) {
    ConfigKey<T> key = new ConfigKey<>(name, allowed, standard, defaultText, meaning, parser);
    if (keys.putIfAbsent(name, key) != null) {
      throw new IllegalStateException(heading + " has two keys " + name);
    }
    return key;
  }

  /** Declares a key whose value is a whole number. The prefix 0x makes it hexadecimal. */
  public ConfigKey<Long> number(
      String name, long standard, String defaultText, long least, long most, String meaning) {
    return key(
        name,
        wholeNumber(least, most),
        standard,
        defaultText,
        meaning,
        text -> ConfigKey.within(NumberText.parse(text), least, most));
  }

  /** Declares a key as {@link #number(String, long, String, long, long, String)} does. */
  public ConfigKey<Long> number(String name, long standard, long least, long most, String meaning) {
    return number(name, standard, Long.toString(standard), least, most, meaning);
  }

  /** Declares a key as {@link #number(String, long, String, long, long, String)} does. */
  public ConfigKey<Integer> integer(
      String name, int standard, String defaultText, int least, int most, String meaning) {
    return key(
        name,
        wholeNumber(least, most),
        standard,
        defaultText,
        meaning,
        text -> (int) ConfigKey.within(NumberText.parse(text), least, most));
  }

  /** Declares a key as {@link #number(String, long, String, long, long, String)} does. */
  public ConfigKey<Integer> integer(
      String name, int standard, int least, int most, String meaning) {
    return integer(name, standard, Integer.toString(standard), least, most, meaning);
  }

  private static String wholeNumber(long least, long most) {
    return WHOLE_NUMBER + least + " to " + most;
  }

  /** Declares a key whose value is {@code yes} or {@code no}. */
  public ConfigKey<Boolean> flag(String name, boolean standard, String meaning) {
    return choice(name, standard ? "yes" : "no", List.of("yes", "no"), "yes"::equals, meaning);
  }

  /**
   * Declares a key whose value is one of several words, in upper or lower case.
   *
   * @param standard word of the default
   * @param named function that returns the value of a word
   */
  public <T> ConfigKey<T> choice(
      String name,
      String standard,
      Collection<String> words,
      Function<String, T> named,
      String meaning) {
    return key(
        name,
        ConfigKey.oneOf(words),
        named.apply(standard),
        standard,
        meaning,
        text -> {
          for (String word : words) {
            if (word.equalsIgnoreCase(text)) {
              return named.apply(word);
            }
          }
          throw new UnknownWord(NearestName.suggestion(text, words));
        });
  }

  /** Declares a key whose value is any text; its default is empty. */
  public ConfigKey<String> text(String name, String allowed, String defaultText, String meaning) {
    return key(name, allowed, "", defaultText, meaning, Function.identity());
  }

  /** Declares a key whose value is a secret text, which no message contains. */
  public ConfigKey<String> secret(String name, int mostBytes, String meaning) {
    ConfigKey<String> key =
        key(
            name,
            "a text of at most " + mostBytes + " bytes",
            "",
            ConfigKey.NONE,
            meaning,
            text -> {
              if (text.getBytes(StandardCharsets.UTF_8).length > mostBytes) {
                throw new IllegalArgumentException("too long");
              }
              return text;
            });
    secrets.add(key);
    return key;
  }

  /**
   * Declares a key whose value is the path of a file that the daemon makes. Two such keys can't
   * name the same file.
   */
  public ConfigKey<Path> file(String name, Path standard, String meaning) {
    return key(
        name, "an absolute path", standard, standard.toString(), meaning, ConfigKeys::filePath);
  }

  /** Declares a key whose value is the path of a socket that the daemon makes. */
  public ConfigKey<Path> socket(String name, Path standard, String meaning) {
    return key(
        name,
        "an absolute path of at most " + ControlSocket.MOST_PATH_BYTES + " bytes",
        standard,
        standard.toString(),
        meaning,
        text -> {
          ConfigKey.within(
              text.getBytes(StandardCharsets.UTF_8).length, 1, ControlSocket.MOST_PATH_BYTES);
          return filePath(text);
        });
  }

  private static Path filePath(String text) {
    Path path = Path.of(text);
    if (!path.isAbsolute() || path.getFileName() == null) {
      throw new IllegalArgumentException("no absolute path of a file");
    }
    return path;
  }

  /**
   * Declares a key whose value is a list, separated by commas or spaces; its default is empty.
   *
   * @param parser parser of an element, which throws IllegalArgumentException
   */
  public <T> ConfigKey<List<T>> list(
      String name, String allowed, String defaultText, Function<String, T> parser, String meaning) {
    return key(
        name, allowed, List.of(), defaultText, meaning, text -> ConfigKey.elementsOf(text, parser));
  }

  /** Exception for a word that isn't allowed; its message suggests the nearest one. */
  static final class UnknownWord extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnknownWord(String suggestion) {
      super(suggestion);
    }
  }

  String kind() {
    return kind;
  }

  Set<String> names() {
    return keys.keySet();
  }

  /** Returns all declared keys, in order. */
  Collection<ConfigKey<?>> all() {
    return keys.values();
  }

  /** Returns a declared key by its name, or null. */
  @Nullable ConfigKey<?> named(String name) {
    return keys.get(name);
  }

  /** Returns the heading in messages, as {@code [peer name]}. */
  String heading() {
    return heading;
  }

  /** Returns whether the names in headings are those that {@link #NAME_TEXT} describes. */
  boolean hasPlainNames() {
    return names.equals(NAMES);
  }

  /**
   * Returns the name in a heading.
   *
   * @param inner text between the brackets
   * @return null if it isn't a heading of this kind
   */
  @Nullable String nameIn(String inner) {
    if (names.isEmpty()) {
      return inner.equals(kind) ? "" : null;
    }
    if (kind.isEmpty() || !inner.matches(kind + "\\s.*")) {
      return null;
    }
    String name = inner.substring(kind.length()).strip();
    return name.matches(names) ? name : null;
  }

  /** Returns the reference table of the keys, in Markdown; it marks those of needRestart. */
  public String table() {
    StringBuilder table =
        new StringBuilder("| key | values | default | meaning |\n|---|---|---|---|\n");
    keys.values()
        .forEach(key -> {
          String shown = key.defaultText();
          table.append(
              "| `%s` | %s | %s | %s%s |\n"
                  .formatted(
                      key.name(),
                      key.allowed().replace(WHOLE_NUMBER, ""),
                      key.hasDefaultValue() ? "`" + shown + "`" : shown,
                      key.meaning(),
                      isFixed(key) ? " *(restart)*" : ""));
        });
    return table.toString();
  }
}
