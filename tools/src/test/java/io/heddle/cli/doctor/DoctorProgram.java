package io.heddle.cli.doctor;

import io.heddle.cli.operate.BgpCommand;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Main class with the doctor and the route daemon, which tests start as a process on a host. */
@Command(subcommands = {DoctorCommand.class, BgpCommand.class})
final class DoctorProgram {
  private DoctorProgram() {}

  /** Returns the command line that starts this program, without the command and its options. */
  static List<String> start() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        DoctorProgram.class.getName());
  }

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new DoctorProgram());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    System.exit(line.execute(arguments));
  }
}
