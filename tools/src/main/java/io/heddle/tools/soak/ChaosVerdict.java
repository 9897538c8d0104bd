package io.heddle.tools.soak;

import org.jspecify.annotations.Nullable;

/**
 * Verdict on a run.
 *
 * @param kind outcome
 * @param explanation description of the failure with the last log lines; null if the run passed
 * @param wrongBytes number of wrong bytes in messages, in the guards around buffers, and in
 *     returned buffers, of both ranks together
 * @param longestGapMs longest time between two arrivals at one rank, ms; 0 if the run had a fatal
 *     fault
 * @param detectedAfterMs time from the fatal fault until the last communicator reported it, ms; 0
 *     if the run had no fatal fault
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
    /**
     * All messages arrived with correct bytes, or the run had a fatal fault and failed as required.
     */
    PASSED("passed"),
    ERRED("erred though a plane was left"),
    /** Ranks were only stopped, and a rank mistook that for a plane failure. */
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

  /** Returns this verdict with another outcome. */
  ChaosVerdict withKind(Kind other, String why) {
    return new ChaosVerdict(other, why, messages, bytes, wrongBytes, longestGapMs, detectedAfterMs);
  }

  boolean isGood() {
    return kind == Kind.PASSED;
  }
}
