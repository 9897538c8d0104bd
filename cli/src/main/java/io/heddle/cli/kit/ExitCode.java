package io.heddle.cli.kit;

/** Exit codes of every command; 0 means success. */
public final class ExitCode {
  /** The command failed; standard error has the reason. */
  public static final int FAILED = 1;

  /** The command line is wrong; nothing was done. */
  public static final int USAGE = 2;

  private ExitCode() {}
}
