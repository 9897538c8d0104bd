package io.heddle.cli.heddle;

import io.heddle.cli.kit.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Whether a command line can be read and asks for more than help: the checkout's command installs
 * what a command takes only then.
 */
final class CommandLineCheck {
  static final int ASKS_FOR_A_TEXT = 3;

  private CommandLineCheck() {}

  public static void main(String[] arguments) {
    System.exit(check(arguments));
  }

  /**
   * As an exit code: 0 for a line that may be run. The command itself says what is wrong with
   * others.
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
        return ASKS_FOR_A_TEXT;
      }
    }
    return 0;
  }
}
