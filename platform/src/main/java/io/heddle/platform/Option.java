package io.heddle.platform;

import java.util.List;
import java.util.function.Function;

/**
 * Setting that is read from the environment.
 *
 * @param <T> type of the value
 * @param name name of the environment variable
 * @param unit unit of the value, or kind of text
 * @param defaultText default value, as a user would write it; empty if there is none
 * @param range allowed values, as the end of a sentence
 * @param why purpose, and when to change it
 * @param parser function that turns text into a value, or throws IllegalArgumentException
 */
public record Option<T>(
    String name,
    String unit,
    String defaultText,
    String range,
    String why,
    Function<String, T> parser) {

  /** Creates an option for a whole number within bounds. */
  public static Option<Long> number(
      String name, String unit, long defaultValue, long least, long most, String why) {
    return new Option<>(
        name,
        unit,
        Long.toString(defaultValue),
        least == most ? "only " + least : "a whole number from " + least + " to " + most,
        why,
        text -> {
          long value = Long.parseLong(text);
          if (value < least || value > most) {
            throw new IllegalArgumentException("out of range");
          }
          return value;
        });
  }

  /**
   * Creates an option for a number in a variable of NCCL's, in any form that NCCL reads. A number
   * outside Heddle's range, which NCCL may support, doesn't prevent a job from starting: a
   * substitute is used, and {@link Options#warnings} reports it.
   *
   * @param above substitute for numbers above the range; the default is the substitute for numbers
   *     below it
   */
  public static Option<Long> ncclNumber(
      String name, String unit, long defaultValue, long least, long most, long above, String why) {
    return new Option<>(
        name,
        unit,
        Long.toString(defaultValue),
        least == most ? "only " + least : "a whole number from " + least + " to " + most,
        why,
        text -> {
          long value = NcclNumber.parse(text, defaultValue);
          return value > most ? above : value < least ? defaultValue : value;
        });
  }

  /** Creates an option for one of several words. */
  public static Option<String> choice(
      String name, List<String> words, String defaultWord, String why) {
    return new Option<>(
        name,
        "word",
        defaultWord,
        "one of " + String.join(", ", words),
        why,
        text -> {
          if (!words.contains(text)) {
            throw new UnknownWord(NearestName.of(text, words));
          }
          return text;
        });
  }

  /**
   * Exception for a text that isn't one of an option's words; its message suggests the nearest
   * word.
   */
  private static final class UnknownWord extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnknownWord(String nearest) {
      super("; did you mean " + nearest + "?");
    }
  }

  /**
   * Creates an option for any text. The code that reads the option parses the text. The default is
   * empty.
   */
  public static Option<String> text(String name, String unit, String range, String why) {
    return new Option<>(name, unit, "", range, why, Function.identity());
  }

  /**
   * Parses a value.
   *
   * @throws HeddleException that names the option, the text and the allowed values
   */
  T parse(String text) {
    try {
      return parser.apply(text.strip());
    } catch (IllegalArgumentException malformed) {
      String hint = malformed instanceof UnknownWord ? malformed.getMessage() : "";
      throw new HeddleException(
          name + "=" + text + " is not understood; allowed is " + range + hint, malformed);
    }
  }
}
