package io.heddle.cli.stat;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;

/** Program that runs {@code stat} in its own process. */
final class StatProgram {
  private StatProgram() {}

  /** Returns the command line that starts this program, without options. */
  static List<String> start() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        StatProgram.class.getName());
  }

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new StatCommand());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    System.exit(line.execute(arguments));
  }
}
