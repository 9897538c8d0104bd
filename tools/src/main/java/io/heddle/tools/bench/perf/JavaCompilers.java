package io.heddle.tools.bench.perf;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Compilers that the JVM of a measured plugin may use. */
enum JavaCompilers {
  /** The plugin's default: only the first compiler on fewer than four processors, else both. */
  AUTO("", ""),
  /** Only the first compiler. */
  FIRST("-XX:TieredStopAtLevel=1", "Java's first compiler alone"),
  /** Both compilers, as by default on four or more processors. */
  BOTH("-XX:TieredStopAtLevel=4", "both of Java's compilers");

  static final String VARIABLE = "HEDDLE_JVM_OPTIONS";

  /**
   * Time in ms after which the second compiler has compiled all code of a measurement, with margin.
   */
  private static final long SECOND_COMPILER_MS = TimeUnit.SECONDS.toMillis(5);

  private final String option;
  private final String title;

  JavaCompilers(String option, String title) {
    this.option = option;
    this.title = title;
  }

  /** Returns the JVM option that selects the compilers; empty for the default. */
  String option() {
    return option;
  }

  /** Returns a description for reports; empty for the default. */
  String title() {
    return title;
  }

  /**
   * Returns the environment variable with the option that selects the compilers; empty for the
   * default. The user's own options follow in the variable, so that they take precedence.
   *
   * @param own the user's options, or null
   */
  Map<String, String> environment(@Nullable String own) {
    Map<String, String> environment = new HashMap<>();
    if (!option.isEmpty()) {
      environment.put(VARIABLE, own == null ? option : option + " " + own);
    }
    return environment;
  }

  /**
   * Returns the time in ms that a contestant must run until the compilers have finished with its
   * code.
   */
  long settleMs() {
    return this == BOTH ? SECOND_COMPILER_MS : 0;
  }

  /** Returns a suffix for the name of the report's files; empty for the default. */
  String fileSuffix() {
    return this == AUTO ? "" : "-compilers-" + name().toLowerCase(Locale.ROOT);
  }
}
