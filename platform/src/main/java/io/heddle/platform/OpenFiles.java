package io.heddle.platform;

import java.io.IOException;

/** How many descriptors this process may have, in words for who needs one more. */
public final class OpenFiles {
  private static final int RLIMIT_NOFILE = 7;

  private OpenFiles() {}

  /** The soft limit; negative where the system doesn't say. */
  public static long limit() {
    return ProcessLimits.soft(RLIMIT_NOFILE);
  }

  /** What the limit is, and how to have another one. */
  public static String describeLimit() {
    return ("all %s descriptors that this process may have are in use (RLIMIT_NOFILE; ulimit -n"
            + " raises it), and a connection takes one, and one on each plane")
        .formatted(limit());
  }

  /** Whether Java met the limit. */
  public static boolean isLimit(IOException failure) {
    return String.valueOf(failure.getMessage()).contains("Too many open files");
  }

  /** Why a call failed, with the limit where it is that. */
  public static String explain(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return isLimit(failure) ? message + ": " + describeLimit() : message;
  }
}
