package io.heddle.cli.paths;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Main class with {@code heddle paths}, which tests start as a process on a host. */
@Command(subcommands = PathsCommand.class)
final class PathsProgram {
  private PathsProgram() {}

  /**
   * Returns the command line that starts this program. A command and its options are added to it.
   */
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
