package io.heddle.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The most memory and the processor time that a process has had, as of the last look while it was
 * there. Both only grow, so a look shortly before its end tells nearly all.
 */
final class ProcessCosts {
  private static final double NS_PER_SECOND = 1e9;
  private static final double KIB_PER_MIB = 1024;

  /** Of proc_pid_status(5), in KiB. */
  private static final String PEAK = "VmHWM:";

  private double mebibytes = Double.NaN;
  private double processorSeconds = Double.NaN;

  void look(ProcessHandle process) {
    Path status = Path.of("/proc", Long.toString(process.pid()), "status");
    try {
      for (String line : Files.readAllLines(status)) {
        if (line.startsWith(PEAK)) {
          mebibytes = Long.parseLong(line.replaceAll("\\D", "")) / KIB_PER_MIB;
        }
      }
    } catch (IOException ended) {
      /* The look before tells. */
      return;
    }
    process
        .info()
        .totalCpuDuration()
        .ifPresent(taken -> processorSeconds = taken.toNanos() / NS_PER_SECOND);
  }

  /** Not a number where it was never seen. */
  List<Figure> figures() {
    return List.of(
        Figure.of(Outcome.MEMORY, "MiB", mebibytes),
        Figure.of(Outcome.PROCESSOR, "s", processorSeconds));
  }
}
