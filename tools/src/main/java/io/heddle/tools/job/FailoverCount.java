package io.heddle.tools.job;

import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reader of the number of failovers, by the processes' own counters. */
public final class FailoverCount {
  private FailoverCount() {}

  /**
   * Returns the number of failovers of all connections, open and closed, of the processes whose
   * statistics files are in this folder.
   */
  public static long count(Path folder) throws IOException {
    long count = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
      for (Path file : files) {
        for (ProcessStats.Row row : StatsReader.read(file)) {
          count += row.failovers();
        }
      }
    }
    return count;
  }
}
