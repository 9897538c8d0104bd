package io.heddle.gateway;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.telemetry.report.InterfaceReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What each interface has sent, by proc_pid_net(5). */
final class InterfaceCounters {
  /* The thread's own namespace, where /proc/net is the process's. */
  private static final Path DEV = Path.of("/proc/thread-self/net/dev");
  private static final int HEADINGS = 2;
  private static final int SENT_BYTES = 8;

  private InterfaceCounters() {}

  /** Those of the calling thread's network namespace. */
  static List<InterfaceReport> read() {
    try {
      return parse(Files.readAllLines(DEV));
    } catch (IOException failure) {
      throw new HeddleException(DEV + " can't be read: " + FileFailure.reason(failure), failure);
    }
  }

  static List<InterfaceReport> parse(List<String> lines) {
    List<InterfaceReport> counters = new ArrayList<>();
    for (String line : lines.subList(HEADINGS, lines.size())) {
      int colon = line.lastIndexOf(':');
      String[] numbers = line.substring(colon + 1).strip().split("\\s+");
      counters.add(
          new InterfaceReport(
              line.substring(0, colon).strip(), Long.parseUnsignedLong(numbers[SENT_BYTES])));
    }
    return counters;
  }
}
