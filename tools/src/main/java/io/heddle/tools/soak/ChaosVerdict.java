package io.heddle.tools.soak;

import org.jspecify.annotations.Nullable;

/**
 * Verdict on a run.
 *
 * @param kind outcome
 * @param explanation description of the failure with the last log lines; null if the run passed
 * @param wrongBytes wrong bytes in messages, guards and returned buffers, both ranks together
 * @param longestGapMs longest time between two arrivals at one rank, of a run that continued
 * @param detectedAfterMs time from the cause to the failure of the last communicator, of a run that
 *     had to fail
 */
record ChaosVerdict(
    Kind kind,
    @Nullable String explanation,
    long messages,
    long bytes,
    long wrongBytes,
    double longestGapMs,
    double detectedAfterMs) {
  /** Outcome of a run. */
  enum Kind {
    /** All messages arrived with correct bytes; or the run had to fail, and failed correctly. */
    PASSED("passed"),
    ERRED("erred though a plane was left"),
    /** Ranks were only stopped, and one mistook that for a plane failure. */
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

  /** Returns another verdict on the same run. */
  ChaosVerdict withKind(Kind other, String why) {
    return new ChaosVerdict(other, why, messages, bytes, wrongBytes, longestGapMs, detectedAfterMs);
  }

  boolean isGood() {
    return kind == Kind.PASSED;
  }
}
