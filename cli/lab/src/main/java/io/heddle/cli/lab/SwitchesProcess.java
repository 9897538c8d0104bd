package io.heddle.cli.lab;

import io.heddle.cli.kit.SelfCall;
import io.heddle.cli.kit.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The background process that looks after a lab's switches, by files of the lab's folder. */
final class SwitchesProcess {
  static final String SETTINGS = "switching.json";
  private static final String NUMBER = "switches.pid";
  private static final String LOG = "switches.log";
  private static final long POLL_MS = 20;

  private SwitchesProcess() {}

  /** Says, from inside, that the switches choose. */
  static void ready(Path folder) {
    WholeFile.write(folder.resolve(NUMBER), Long.toString(ProcessHandle.current().pid()));
  }

  /**
   * Starts it and waits until the switches choose.
   *
   * @throws LabException where it ends instead, with what it said
   */
  static void start(Path folder) {
    List<String> command = new ArrayList<>(List.of("setsid"));
    command.addAll(SelfCall.asStarted());
    command.addAll(List.of("lab", "switches", folder.resolve(SETTINGS).toString()));
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve(LOG).toFile())
              .start();
      while (!Files.exists(folder.resolve(NUMBER))) {
        if (!process.isAlive()) {
          throw new LabException(
              "the switches can't be made to choose: "
                  + Files.readString(folder.resolve(LOG)).strip());
        }
        FabricDaemons.pause(POLL_MS);
      }
    } catch (IOException failed) {
      throw new LabException(
          "the process that looks after switches can't be started: " + failed.getMessage(), failed);
    }
  }

  /** Its number; 0 where there is none, or it has ended. */
  static long running(Path folder) {
    try {
      if (!Files.exists(folder.resolve(NUMBER))) {
        return 0;
      }
      long pid = Long.parseLong(Files.readString(folder.resolve(NUMBER)).strip());
      return FabricDaemons.isOurs(folder, pid) ? pid : 0;
    } catch (IOException | NumberFormatException unreadable) {
      throw new LabException(
          "can't read " + folder.resolve(NUMBER) + ": " + unreadable.getMessage(), unreadable);
    }
  }
}
