package io.heddle.cli.soak;

import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param kind what it counts as
 * @param story for people; null where all went well
 * @param wrongBytes of messages, guards and buffers handed back, both ranks together
 * @param longestGapMs between two arrivals at one rank, of a run that went on
 * @param toldAfterMs how long after its cause the last communicator failed; of a run that had to
 *     fail
 */
record ChaosVerdict(
    Kind kind,
    @Nullable String story,
    long messages,
    long bytes,
    long wrongBytes,
    double longestGapMs,
    double toldAfterMs) {
  /** What a run counts as. */
  enum Kind {
    /** Every message arrived, every byte right; or the run had to fail, and did as it must. */
    PASSED("passed"),
    ERRED("erred though a plane was left"),
    /** Ranks were stopped and nothing else, and one took that for the failure of a plane. */
    FENCED("left planes that were there"),
    LATE("told too late"),
    WRONG("wrong bytes"),
    HUNG("hung"),
    LEAKED("left objects open"),
    FAILED("failed");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  /** The same run, judged otherwise. */
  ChaosVerdict but(Kind other, String why) {
    return new ChaosVerdict(other, why, messages, bytes, wrongBytes, longestGapMs, toldAfterMs);
  }

  boolean isGood() {
    return kind == Kind.PASSED;
  }
}
