package io.heddle.cli.kit;

import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.List;

/**
 * Command line with which one command starts another command of the same program in a new process.
 */
public final class OwnCommandLine {
  private OwnCommandLine() {}

  /**
   * Returns the command line that runs this program again, to which the caller adds arguments. It
   * uses the script of the packages, which replaces itself by Java (exec), so signals reach Java.
   * The checkout's command {@code ./heddle} isn't used, because it would build first.
   *
   * @throws HeddleException if the script that starts commands is missing
   */
  public static List<String> asStarted() {
    return List.of(
        "sh",
        Installation.requirePart(Installation.START, "the script that starts commands").toString(),
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        System.getProperty("java.class.path"));
  }
}
