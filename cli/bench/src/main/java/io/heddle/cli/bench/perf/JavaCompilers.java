package io.heddle.cli.bench.perf;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Which of Java's compilers a plugin that is measured has. */
enum JavaCompilers {
  /** Those that it takes itself: the first alone on fewer than four processors, else both. */
  AUTO("", ""),
  /** The first alone. */
  FIRST("-XX:TieredStopAtLevel=1", "Java's first compiler alone"),
  /** Both, as on four processors and more. */
  BOTH("-XX:TieredStopAtLevel=4", "both of Java's compilers");

  static final String VARIABLE = "HEDDLE_JVM_OPTIONS";

  /** How long the second compiler takes to have compiled all that a measurement runs, and more. */
  private static final long SECOND_COMPILER_MS = TimeUnit.SECONDS.toMillis(5);

  private final String option;
  private final String title;

  JavaCompilers(String option, String title) {
    this.option = option;
    this.title = title;
  }

  /** What Java is started with for it; empty where nothing is asked for. */
  String option() {
    return option;
  }

  /** For people; empty where nothing is asked for. */
  String title() {
    return title;
  }

  /**
   * The variable that asks for it, before what a user has in there, so that the user's comes last
   * and counts.
   *
   * @param own what the user has, null for nothing
   */
  Map<String, String> environment(@Nullable String own) {
    Map<String, String> environment = new HashMap<>();
    if (!option.isEmpty()) {
      environment.put(VARIABLE, own == null ? option : option + " " + own);
    }
    return environment;
  }

  /** How long a contestant runs before what it does is compiled for good, in milliseconds. */
  long settleMs() {
    return this == BOTH ? SECOND_COMPILER_MS : 0;
  }

  /** Part of a file's name: nothing unless something is asked for. */
  String fileSuffix() {
    return this == AUTO ? "" : "-compilers-" + name().toLowerCase(Locale.ROOT);
  }
}
