package io.heddle.platform;

/**
 * Where Heddle's sentences go: NCCL's own logger inside the plugin, standard error in the tools.
 *
 * <p>Rare facts are logged, repeated facts are counted; nothing on the data path logs.
 */
public interface Log {
  /**
   * The level of a sentence, with NCCL's numbers (NCCL_LOG_WARN 2, NCCL_LOG_INFO 3, NCCL_LOG_TRACE
   * 5).
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
    write(
        Level.WARN,
        arguments.length == 0 ? format : String.format(java.util.Locale.ROOT, format, arguments));
  }

  default void info(String format, Object... arguments) {
    write(
        Level.INFO,
        arguments.length == 0 ? format : String.format(java.util.Locale.ROOT, format, arguments));
  }

  default void trace(String format, Object... arguments) {
    write(
        Level.TRACE,
        arguments.length == 0 ? format : String.format(java.util.Locale.ROOT, format, arguments));
  }

  /** Writes warnings and information to standard error; for tools and tests. */
  static Log toStandardError() {
    return (level, sentence) -> System.err.println("heddle " + level + " " + sentence);
  }
}
