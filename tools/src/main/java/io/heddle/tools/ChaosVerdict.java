package io.heddle.tools;

import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param kind what it counts as
 * @param story for people; null where all went well
 * @param wrongBytes of messages, guards and buffers handed back, both ranks together
 */
record ChaosVerdict(
    Kind kind,
    @Nullable String story,
    long messages,
    long bytes,
    long wrongBytes,
    double longestGapMs) {
  /** What a run counts as. */
  enum Kind {
    /** Every message arrived, every byte right. */
    PASSED("passed"),
    /** A plane was taken away, others were left, and the connection erred; no byte is wrong. */
    ERRED("erred by a cut plane"),
    WRONG("wrong bytes"),
    HUNG("hung"),
    LEAKED("left objects open"),
    FAILED("failed without cause");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  boolean isGood() {
    return kind == Kind.PASSED;
  }
}
