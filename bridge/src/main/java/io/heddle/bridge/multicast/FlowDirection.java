package io.heddle.bridge.multicast;

import java.util.List;
import java.util.stream.Stream;

/** Directions in which a group's packets are forwarded. */
public enum FlowDirection {
  BOTH("both"),
  A_TO_B("a-to-b"),
  B_TO_A("b-to-a");

  private final String word;

  FlowDirection(String word) {
    this.word = word;
  }

  public String word() {
    return word;
  }

  public static List<String> words() {
    return Stream.of(values()).map(FlowDirection::word).toList();
  }

  /**
   * Returns the direction with this name in a configuration.
   *
   * @throws IllegalArgumentException for another word
   */
  public static FlowDirection named(String word) {
    for (FlowDirection each : values()) {
      if (each.word.equals(word)) {
        return each;
      }
    }
    throw new IllegalArgumentException(word + " is no direction");
  }

  /**
   * Returns whether packets from this fabric are forwarded.
   *
   * @param side 0 for a, 1 for b
   */
  public boolean goesFrom(int side) {
    return this == BOTH || (this == A_TO_B) == (side == 0);
  }
}
