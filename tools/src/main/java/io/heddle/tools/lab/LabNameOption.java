package io.heddle.tools.lab;

import picocli.CommandLine.Option;

/** Option {@code --name} of every command that creates a lab or works on one. */
final class LabNameOption {
  @Option(
      names = "--name",
      paramLabel = "NAME",
      defaultValue = "lab",
      description = "Name of the lab, unique on this machine (${DEFAULT-VALUE}).")
  private String name = "";

  String name() {
    return name;
  }

  /** Opens the running lab of that name. */
  Fabric open() {
    return Fabric.open(name);
  }
}
