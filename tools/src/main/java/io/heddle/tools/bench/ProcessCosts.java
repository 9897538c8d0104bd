package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Sampler of a process's peak memory and processor time. The last sample before the process ends
 * counts. Both values only grow, so a sample shortly before the end is nearly exact.
 */
final class ProcessCosts {
  private static final double NS_PER_SECOND = 1e9;
  private static final double KIB_PER_MIB = 1024;

  /** Field of proc_pid_status(5) with the peak resident set size in KiB. */
  private static final String PEAK = "VmHWM:";

  private double mebibytes = Double.NaN;
  private double processorSeconds = Double.NaN;

  void sample(ProcessHandle process) {
    Path status = Path.of("/proc", Long.toString(process.pid()), "status");
    try {
      for (String line : Files.readAllLines(status)) {
        if (line.startsWith(PEAK)) {
          mebibytes = Long.parseLong(line.replaceAll("\\D", "")) / KIB_PER_MIB;
        }
      }
    } catch (IOException ended) {
      /* The process has ended, so the previous sample counts. */
      return;
    }
    process
        .info()
        .totalCpuDuration()
        .ifPresent(taken -> processorSeconds = taken.toNanos() / NS_PER_SECOND);
  }

  /** Returns the figures of memory and processor time; NaN if no sample was taken. */
  List<Figure> figures() {
    return List.of(
        Figure.of(Outcome.MEMORY, "MiB", mebibytes),
        Figure.of(Outcome.PROCESSOR, "s", processorSeconds));
  }
}
