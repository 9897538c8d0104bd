package io.heddle.cli.paths;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Program that runs {@code heddle paths} as a process on a test's host. */
@Command(subcommands = PathsCommand.class)
final class PathsProgram {
  private PathsProgram() {}

  /** Returns the command line that starts it; a command and its options follow. */
  static List<String> start() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        PathsProgram.class.getName());
  }

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new PathsProgram()).execute(arguments));
  }
}
