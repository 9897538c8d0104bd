package io.heddle.daemon;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Key of a section in a configuration file. {@link ConfigKeys} declares it.
 *
 * @param <T> type of the value
 * @param name name in the file
 * @param allowed allowed values, as the end of a sentence, such as "yes or no"
 * @param standard value of an absent key
 * @param defaultText default in the reference table
 * @param meaning one line for the reference table
 * @param parser function that turns text into a value, or throws IllegalArgumentException
 */
public record ConfigKey<T extends @Nullable Object>(
    String name,
    String allowed,
    T standard,
    String defaultText,
    String meaning,
    Function<String, T> parser) {
  /** Default text of a key that must be set. */
  public static final String REQUIRED = "must be set";

  /** Default text of a key without which something is absent. */
  public static final String NONE = "none";

  /** Returns whether the default is a value, and not only described. */
  boolean hasDefaultValue() {
    return !defaultText.contains(" ") && !defaultText.equals(NONE);
  }

  /** Returns the elements of a value, which are separated by commas or spaces. */
  public static Stream<String> elements(String value) {
    return Stream.of(value.split("[\\s,]+")).filter(each -> !each.isEmpty());
  }

  /**
   * Returns the parsed elements of a value.
   *
   * @throws IllegalArgumentException if there is none, and as the parser does
   */
  public static <E> List<E> elementsOf(String value, Function<String, E> parser) {
    List<E> found = elements(value).map(parser).toList();
    if (found.isEmpty()) {
      throw new IllegalArgumentException("no element");
    }
    return found;
  }

  /**
   * Returns a value that is in a range.
   *
   * @throws IllegalArgumentException if it isn't
   */
  public static long within(long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }

  /** Returns the words as the end of a sentence: "a, b or c". */
  static String oneOf(Collection<String> words) {
    String all = String.join(", ", words);
    int last = all.lastIndexOf(", ");
    return last < 0 ? all : all.substring(0, last) + " or " + all.substring(last + 2);
  }
}
