package io.heddle.cli.doctor;

import java.util.List;

/** One check of a host. */
interface Check {
  /** Returns the check's name in kebab case, which is the heading of its findings. */
  String name();

  /** Returns the description of the check for the list of checks. */
  String summary();

  /** Returns every cause that this check may report. */
  List<Cause> causes();

  /** Runs the check; never throws because of a finding. */
  List<Finding> run(Host host);
}
