package io.heddle.bridge.config;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Line of a configuration: a keyword, words, and {@code key=value} pairs. Error messages contain
 * file, line and word, and suggest a similar name if there is one.
 */
final class ConfigLine {
  private final String file;
  private final int number;
  private final String keyword;
  private final List<String> words = new ArrayList<>();
  private final Map<String, String> values = new LinkedHashMap<>();

  /**
   * @param text not empty, without a comment
   */
  ConfigLine(String file, int number, String text) {
    this.file = file;
    this.number = number;
    String[] parts = text.strip().split("\\s+");
    keyword = parts[0];
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      if (equals < 0) {
        words.add(parts[i]);
      } else {
        String key = parts[i].substring(0, equals);
        if (values.put(key, parts[i].substring(equals + 1)) != null) {
          throw fail(key + "= is given twice");
        }
      }
    }
  }

  String keyword() {
    return keyword;
  }

  int number() {
    return number;
  }

  HeddleException fail(String what) {
    return new HeddleException(file + " line " + number + ": " + what);
  }

  /**
   * Returns the words after the keyword.
   *
   * @param names name of each expected word, for error messages
   */
  List<String> words(String... names) {
    if (words.size() != names.length) {
      String wanted =
          String.join(" ", names).isEmpty() ? keyword : keyword + " " + String.join(" ", names);
      String found =
          words.size() > names.length
              ? "'" + words.get(names.length) + "' is one word too many"
              : names[words.size()] + " is missing";
      throw fail(found + "; a line is " + wanted + " and then key=value pairs");
    }
    return words;
  }

  /** Rejects keys that aren't in this list. */
  void allow(List<String> keys) {
    for (String key : values.keySet()) {
      if (!keys.contains(key)) {
        String there =
            keys.isEmpty() ? "; it has no keys" : "; the keys are " + String.join(", ", keys);
        String question = NearestName.suggestion(key, keys);
        throw fail(keyword + " has no key '" + key + "'" + (question.isEmpty() ? there : question));
      }
    }
  }

  /**
   * Parses the value of a key, or returns the standard value if the key is absent.
   *
   * @param parser throws {@link IllegalArgumentException} for a value that isn't allowed
   * @param allowed the allowed values, as a noun phrase
   */
  <T> T get(String key, T standard, String allowed, Function<String, T> parser) {
    String text = values.get(key);
    return text == null ? standard : parse(key + "=" + text, text, allowed, parser);
  }

  /** Returns the value of a mandatory key. */
  String require(String key) {
    String text = values.get(key);
    if (text == null || text.isEmpty()) {
      throw fail(keyword + " needs " + key + "=");
    }
    return text;
  }

  /** Parses a text; {@code shown} is its description in error messages. */
  <T> T parse(String shown, String text, String allowed, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException refused) {
      throw fail(shown + " isn't " + allowed);
    }
  }

  /**
   * Parses the value of a key, which must be one of the choices, or returns the standard value if
   * the key is absent.
   */
  <T> T choice(String key, T standard, List<String> choices, Function<String, T> named) {
    String text = values.get(key);
    if (text == null) {
      return standard;
    }
    try {
      return named.apply(text);
    } catch (IllegalArgumentException refused) {
      String question = NearestName.suggestion(text, choices);
      throw fail(key + "=" + text + " isn't one of " + String.join(", ", choices) + question);
    }
  }

  int number(String key, int standard, int least, int most) {
    return get(
        key,
        standard,
        "a whole number from " + least + " to " + most,
        text -> {
          int value = Integer.decode(text);
          if (value < least || value > most) {
            throw new IllegalArgumentException("out of range");
          }
          return value;
        });
  }

  boolean flag(String key, boolean standard) {
    return choice(
        key,
        standard,
        List.of("yes", "no"),
        text -> {
          if (!text.equals("yes") && !text.equals("no")) {
            throw new IllegalArgumentException("neither");
          }
          return text.equals("yes");
        });
  }

  /** Returns the value of a key; null if the key is absent. */
  @Nullable String text(String key) {
    return values.get(key);
  }
}
