package io.heddle.cli.heddle;

import picocli.CommandLine;

/**
 * Provider of further commands of {@code heddle}, found by {@link java.util.ServiceLoader}. The
 * commands of the module {@code tools} are on the class path of a checkout, but not in the packages
 * for hosts.
 */
public interface CommandExtension {
  /**
   * Adds commands.
   *
   * @param root the command line of {@code heddle}, which has the commands for hosts already
   */
  void addTo(CommandLine root);
}
