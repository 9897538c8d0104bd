package io.heddle.platform;

import java.io.IOException;

/** Limit of this process's open descriptors, as text for messages. */
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

  /** Returns whether Java's exception is about this limit. */
  public static boolean isLimit(IOException failure) {
    return String.valueOf(failure.getMessage()).contains("Too many open files");
  }

  /** Returns the reason for a failure, with the limit if the limit caused it. */
  public static String explain(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return isLimit(failure) ? message + ": " + describeLimit() : message;
  }
}
