package io.heddle.tools.bench.perf;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reader of this machine's load average. */
public final class HostLoad {
  private static final Path LOADAVG = Path.of("/proc/loadavg");

  private HostLoad() {}

  /** Returns the load average of the last minute. */
  public static double ofLastMinute() {
    try {
      return Double.parseDouble(Files.readString(LOADAVG).split(" ")[0]);
    } catch (IOException unreadable) {
      throw new HeddleException(
          "can't read " + LOADAVG + ": " + unreadable.getMessage(), unreadable);
    }
  }
}
