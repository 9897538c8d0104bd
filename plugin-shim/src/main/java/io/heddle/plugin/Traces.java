package io.heddle.plugin;

import java.util.Arrays;
import java.util.stream.Collectors;

/** Shortened stack traces, for a log whose messages are single lines. */
final class Traces {
  private static final int FRAMES = 12;

  private Traces() {}

  /** Returns the innermost frames of an exception and of its causes. */
  static String shorten(Throwable thrown) {
    String frames =
        Arrays.stream(thrown.getStackTrace())
            .limit(FRAMES)
            .map(StackTraceElement::toString)
            .collect(Collectors.joining(" < "));
    Throwable cause = thrown.getCause();
    return " at " + frames + (cause == null ? "" : "; caused by " + cause + shorten(cause));
  }
}
