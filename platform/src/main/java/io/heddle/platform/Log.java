package io.heddle.platform;

import java.util.Locale;

/**
 * Log of Heddle's messages. In the plugin it is NCCL's own logger; in the commands it is standard
 * error.
 *
 * <p>Rare events are logged, and repeated events are counted. Code on the data path never logs.
 */
public interface Log {
  /**
   * Level of a message, with NCCL's numbers (NCCL_LOG_WARN 2, NCCL_LOG_INFO 3, NCCL_LOG_TRACE 5).
   */
  enum Level {
    WARN(2),
    INFO(3),
    TRACE(5);

    private final int ncclLevel;

    Level(int ncclLevel) {
      this.ncclLevel = ncclLevel;
    }

    public int ncclLevel() {
      return ncclLevel;
    }
  }

  void write(Level level, String sentence);

  default void warn(String format, Object... arguments) {
    write(Level.WARN, sentence(format, arguments));
  }

  default void info(String format, Object... arguments) {
    write(Level.INFO, sentence(format, arguments));
  }

  default void trace(String format, Object... arguments) {
    write(Level.TRACE, sentence(format, arguments));
  }

  /*
   * Formats without a locale, because the look-up of any locale's digits, even of the root locale,
   * takes 6 ms of the plugin's start.
   */
  private static String sentence(String format, Object... arguments) {
    return arguments.length == 0 ? format : String.format((Locale) null, format, arguments);
  }

  /** Returns a log to standard error, for commands and tests. */
  static Log toStandardError() {
    return (level, sentence) -> System.err.println("heddle " + level + " " + sentence);
  }
}
