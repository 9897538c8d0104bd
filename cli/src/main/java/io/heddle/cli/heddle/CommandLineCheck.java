package io.heddle.cli.heddle;

import io.heddle.cli.kit.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Check of whether a command line is valid and runs a command, not just help. The checkout's
 * launcher installs a command's prerequisites only in that case.
 */
final class CommandLineCheck {
  static final int HELP_OR_VERSION = 3;

  private CommandLineCheck() {}

  public static void main(String[] arguments) {
    System.exit(check(arguments));
  }

  /**
   * Returns 0 for a command line that runs a command, else an exit code. It prints nothing: the
   * command reports errors when it runs.
   */
  static int check(String... arguments) {
    ParseResult parsed;
    try {
      parsed = HeddleCommand.commandLine().parseArgs(arguments);
    } catch (ParameterException refused) {
      return ExitCode.USAGE;
    }
    for (ParseResult each = parsed; each != null; each = each.subcommand()) {
      if (each.isUsageHelpRequested() || each.isVersionHelpRequested()) {
        return HELP_OR_VERSION;
      }
    }
    return 0;
  }
}
