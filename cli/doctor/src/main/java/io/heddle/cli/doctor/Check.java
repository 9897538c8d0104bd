package io.heddle.cli.doctor;

import java.util.List;

/** One question to a host. */
interface Check {
  /** In kebab case; heads its findings. */
  String name();

  /** What is looked at, for the list of checks. */
  String looksAt();

  /** Everything that it may find wrong. */
  List<Cause> causes();

  /** Looks; never throws for what it finds. */
  List<Finding> look(Host host);
}
