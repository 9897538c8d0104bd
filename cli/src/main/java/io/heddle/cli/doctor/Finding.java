package io.heddle.cli.doctor;

/** Result of a check: one sentence of evidence, and the remedy for a problem. */
sealed interface Finding {
  String evidence();

  /** No problem. */
  record Ok(String evidence) implements Finding {}

  /**
   * The check couldn't be made. The evidence is the reason; it is neither a success nor a problem.
   */
  record Unknown(String evidence) implements Finding {}

  /** A job runs, but slower or less safely than it could. */
  record Warning(Cause cause, String evidence, String remedy) implements Finding {}

  /** A job fails, or bypasses Heddle. */
  record Fault(Cause cause, String evidence, String remedy) implements Finding {}
}
