package io.heddle.cli.lab;

import picocli.CommandLine.Option;

/** {@code --name}, of every command that makes a lab or works on one. */
final class LabNameOption {
  @Option(
      names = "--name",
      paramLabel = "NAME",
      defaultValue = "lab",
      description = "Tells labs of one machine apart (${DEFAULT-VALUE}).")
  private String name = "";

  String name() {
    return name;
  }

  /** The lab of that name, which is up. */
  Fabric open() {
    return Fabric.open(name);
  }
}
