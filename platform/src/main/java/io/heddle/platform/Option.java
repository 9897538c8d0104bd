package io.heddle.platform;

import java.util.List;
import java.util.function.Function;

/**
 * One setting, read from the environment.
 *
 * @param <T> type of its value
 * @param name name of the environment variable
 * @param unit unit of the value, or what kind of text it is
 * @param defaultText the default as a user would write it; empty for none
 * @param range what is allowed, as a clause that an error message can carry
 * @param why what it is for and when one would change it
 * @param parser turns text into a value, or throws IllegalArgumentException
 */
public record Option<T>(
    String name,
    String unit,
    String defaultText,
    String range,
    String why,
    Function<String, T> parser) {

  /** A whole number within bounds. */
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
   * A number of NCCL's, in any form that NCCL reads. A value that NCCL takes and Heddle can't have
   * never keeps a job from starting: another one is taken, and {@link Options#warnings} says so.
   *
   * @param above what is taken in place of larger numbers; in place of smaller ones it is the
   *     default
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

  /** One of some words. */
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

  /** A word that isn't among those allowed. */
  private static final class UnknownWord extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnknownWord(String nearest) {
      super("; did you mean " + nearest + "?");
    }
  }

  /** Free text, whose own parser speaks for itself later; empty by default. */
  public static Option<String> text(String name, String unit, String range, String why) {
    return new Option<>(name, unit, "", range, why, Function.identity());
  }

  /**
   * The value that this text has.
   *
   * @throws HeddleException that names the option, the text and what is allowed
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
