package io.heddle.cli.doctor;

/** Result of a check: one sentence of evidence, and the remedy for a problem. */
sealed interface Finding {
  String evidence();

  /** Finding without a problem. */
  record Ok(String evidence) implements Finding {}

  /**
   * Finding of a check that couldn't be made, neither a success nor a problem. The evidence is the
   * reason.
   */
  record Unknown(String evidence) implements Finding {}

  /** Problem with which a job runs, but slower or less safely than it could. */
  record Warning(Cause cause, String evidence, String remedy) implements Finding {}

  /** Problem with which a job fails, or runs without Heddle. */
  record Fault(Cause cause, String evidence, String remedy) implements Finding {}
}
