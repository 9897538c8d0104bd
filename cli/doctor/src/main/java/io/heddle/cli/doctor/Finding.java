package io.heddle.cli.doctor;

/** What a check found: one sentence of evidence, and what to do where something is not right. */
sealed interface Finding {
  String evidence();

  /** As it should be. */
  record Ok(String evidence) implements Finding {}

  /** Could not be looked at, and why; counts as neither right nor wrong. */
  record Unknown(String evidence) implements Finding {}

  /** A job runs, though not as well or as safely as it could. */
  record Warning(Cause cause, String evidence, String remedy) implements Finding {}

  /** A job fails, or goes past Heddle. */
  record Fault(Cause cause, String evidence, String remedy) implements Finding {}
}
