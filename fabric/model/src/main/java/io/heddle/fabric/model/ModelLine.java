package io.heddle.fabric.model;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.platform.NumberText;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Line of a model's text file, with parsers for its words.
 *
 * @param file name of the file, for messages
 * @param number number of the line, from 1
 * @param words words of the line, without its comment
 */
record ModelLine(String file, int number, List<String> words) {
  private static final int LAST_PORT = 0xffff;

  static ModelLine of(String file, int number, String text) {
    String bare = text.replaceFirst("(^|\\s)#.*", "").strip();
    return new ModelLine(file, number, bare.isEmpty() ? List.of() : List.of(bare.split("\\s+")));
  }

  HeddleException fail(String what) {
    return new HeddleException(file + " line " + number + ": " + what);
  }

  /** Checks that this many words follow the first one. */
  void require(int count, String form) {
    if (words.size() != count + 1) {
      throw fail("expected: " + form);
    }
  }

  /** Returns the number that is the only word after the first one. */
  long only(long least, long most) {
    require(1, words.getFirst() + " NUMBER");
    return number(1, least, most);
  }

  long number(int at, long least, long most) {
    String word = words.get(at);
    try {
      long value = NumberText.parse(word);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (IllegalArgumentException noNumber) {
      /* The exception below names the allowed range. */
    }
    throw fail("'" + word + "' isn't a whole number from " + least + " to " + most);
  }

  String choice(int at, String what, List<String> choices) {
    String word = words.get(at);
    if (!choices.contains(word)) {
      throw fail(
          "'%s' isn't %s; known are %s%s"
              .formatted(
                  word, what, String.join(", ", choices), NearestName.suggestion(word, choices)));
    }
    return word;
  }

  /**
   * Returns the values of all words after the first one. There must be at least one word, and none
   * twice.
   */
  <T> List<T> each(String what, List<String> choices, T[] values) {
    List<T> found = new ArrayList<>();
    for (int at = 1; at < words.size(); at++) {
      T value = values[choices.indexOf(choice(at, what, choices))];
      if (found.contains(value)) {
        throw fail("'" + words.get(at) + "' is repeated");
      }
      found.add(value);
    }
    if (found.isEmpty()) {
      throw fail("'%s' needs at least one of %s".formatted(words.getFirst(), choices));
    }
    return found;
  }

  /** Parses a numeric IP address. Host names aren't resolved. */
  InetAddress address(int at) {
    String word = words.get(at);
    if (word.matches("[0-9a-fA-F:.]*[:.][0-9a-fA-F:.]*")) {
      try {
        return InetAddress.getByName(word);
      } catch (UnknownHostException noAddress) {
        /* The exception below names the word. */
      }
    }
    throw fail("'" + word + "' isn't an IP address");
  }

  /** Parses ports and port ranges that are separated by commas. */
  List<Integer> ports(int at) {
    List<Integer> ports = new ArrayList<>();
    for (String range : words.get(at).split(",", -1)) {
      String[] ends = range.split("-", -1);
      if (ends.length > 2 || Stream.of(ends).anyMatch(end -> !end.matches("[0-9]{1,5}"))) {
        throw fail("'" + range + "' is neither a port nor a range such as 49152-49215");
      }
      int first = Integer.parseInt(ends[0]);
      int last = Integer.parseInt(ends[ends.length - 1]);
      if (first < 1 || last > LAST_PORT || first > last) {
        throw fail("'" + range + "' isn't a range of ports from 1 to " + LAST_PORT);
      }
      for (int port = first; port <= last; port++) {
        ports.add(port);
      }
    }
    return ports;
  }
}
