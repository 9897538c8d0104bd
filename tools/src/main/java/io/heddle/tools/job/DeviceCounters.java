package io.heddle.tools.job;

import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Reader of the counters of a run's network devices, summed over all ranks and devices. */
public final class DeviceCounters {
  private DeviceCounters() {}

  /**
   * Reads the counters.
   *
   * @param folder folder of the ranks' statistics files
   * @return values by the counter's name, without the device's name
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
