package io.heddle.bpf;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Number of possible processors, which is the number of slots of a per-processor map's values. */
final class Processors {
  private static final Path POSSIBLE = Path.of("/sys/devices/system/cpu/possible");
  private static final int COUNT = read();

  private Processors() {}

  static int possible() {
    return COUNT;
  }

  private static int read() {
    try {
      return count(Files.readString(POSSIBLE));
    } catch (IOException unreadable) {
      throw new HeddleException("can't read " + POSSIBLE + ": " + unreadable, unreadable);
    }
  }

  /** Returns the number of processors in a list such as {@code 0-3,8}. */
  static int count(String list) {
    int count = 0;
    for (String range : list.strip().split(",")) {
      String[] ends = range.split("-");
      count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
    }
    return count;
  }
}
