package io.heddle.platform;

import java.io.IOException;

/** Limit of open descriptors of this process, and texts about the limit for error messages. */
public final class OpenFiles {
  private static final int RLIMIT_NOFILE = 7;

  private OpenFiles() {}

  /** Returns the soft limit, or a negative number if the system doesn't report it. */
  public static long limit() {
    return ProcessLimits.soft(RLIMIT_NOFILE);
  }

  /** Describes the limit and how to raise it. */
  public static String describeLimit() {
    return ("all %s descriptors that this process may have are in use (RLIMIT_NOFILE; ulimit -n"
            + " raises it), and a connection takes one, and one on each plane")
        .formatted(limit());
  }

  /** Returns whether an exception of Java's libraries reports that the limit is reached. */
  public static boolean isLimit(IOException failure) {
    return String.valueOf(failure.getMessage()).contains("Too many open files");
  }

  /** Returns the reason for a failure. If the limit was reached, the text describes the limit. */
  public static String explain(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return isLimit(failure) ? message + ": " + describeLimit() : message;
  }
}
