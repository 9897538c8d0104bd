package io.heddle.cli.kit;

/** The exit codes that every command has; beside 0, which says that all went well. */
public final class ExitCode {
  /** What was asked for failed; standard error says why. */
  public static final int FAILED = 1;

  /** The command line is wrong; nothing was done. */
  public static final int USAGE = 2;

  private ExitCode() {}
}
