package io.heddle.cli.heddle;

import picocli.CommandLine;

/**
 * Further commands of {@code heddle}, found by {@link java.util.ServiceLoader}. Those of the module
 * {@code tools} are on the class path of a checkout and not in the package of a host.
 */
public interface CommandExtension {
  /**
   * Adds commands.
   *
   * @param root the command line of {@code heddle}, with the commands of a host
   */
  void addTo(CommandLine root);
}
