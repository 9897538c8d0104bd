package io.heddle.tools.job;

import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Counters of the devices of a run's ranks, summed over ranks and devices. */
public final class DeviceCounters {
  private DeviceCounters() {}

  /**
   * Reads the counters.
   *
   * @param folder folder of the ranks' statistics files
   * @return values by counter, without the device's name
   */
  public static Map<String, Long> read(Path folder) throws IOException {
    Map<String, Long> sum = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
      for (Path file : files) {
        StatsReader.snapshot(file)
            .deviceCounters()
            .forEach((name, value) ->
                sum.merge(name.substring(name.lastIndexOf('/') + 1), value, Long::sum));
      }
    }
    return sum;
  }
}
