package io.heddle.tools.lab;

import io.heddle.cli.kit.AtomicFile;
import io.heddle.cli.kit.OwnCommandLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Background process that maintains a lab's switches. Files in the lab's folder contain its
 * settings, its process ID and its output.
 */
final class SwitchesProcess {
  static final String SETTINGS = "switching.json";
  private static final String NUMBER = "switches.pid";
  private static final String LOG = "switches.log";
  private static final long POLL_MS = 20;

  private SwitchesProcess() {}

  /** Signals that the switches balance load. Called inside the process. */
  static void markReady(Path folder) {
    AtomicFile.write(folder.resolve(NUMBER), Long.toString(ProcessHandle.current().pid()));
  }

  /**
   * Starts the process and waits until the switches balance load.
   *
   * @throws LabException if the process ends instead, with its output
   */
  static void start(Path folder) {
    List<String> command = new ArrayList<>(List.of("setsid"));
    command.addAll(OwnCommandLine.asStarted());
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
              "can't start load balancing of the switches: "
                  + Files.readString(folder.resolve(LOG)).strip());
        }
        FabricDaemons.pause(POLL_MS);
      }
    } catch (IOException failed) {
      throw new LabException(
          "can't start the process that maintains the switches: " + failed.getMessage(), failed);
    }
  }

  /** Returns the ID of the running process; 0 if there is none. */
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
