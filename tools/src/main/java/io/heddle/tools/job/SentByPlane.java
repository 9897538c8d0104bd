package io.heddle.tools.job;

import io.heddle.addr.Plane;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Bytes sent by plane, from the plugin's counters, summed over the ranks of a run. */
public final class SentByPlane {
  private SentByPlane() {}

  /**
   * Returns the sent message bytes, in the order of plane keys.
   *
   * @param folder folder of the ranks' statistics files
   * @return empty if there is no file, or if the number of planes in it differs from the expected
   *     one
   */
  public static List<Long> read(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::bytes);
  }

  /** Returns the acknowledged message bytes, like {@link #read(Path, int)}. */
  public static List<Long> acknowledged(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::acknowledgedBytes);
  }

  /**
   * Bytes sent by open communicators.
   *
   * @param communicators number of their rows, one per plane
   * @param bytes message bytes in the order of plane keys
   * @param weightsSinceMs time when the last of them got its weights, milliseconds since 1970
   */
  public record OpenTotals(int communicators, List<Long> bytes, long weightsSinceMs) {}

  /** Returns the bytes like {@link #read(Path, int)}, without closed communicators. */
  public static OpenTotals open(Path folder, int planes) throws IOException {
    Map<String, Long> bytesByKey = new TreeMap<>(Plane.KEY_ORDER);
    int communicators = 0;
    long sinceMs = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
      for (Path file : files) {
        for (ProcessStats.Row row : StatsReader.read(file)) {
          if (row.direction() == StatsFile.Direction.SEND && row.open()) {
            communicators++;
            bytesByKey.merge(row.planeKey(), row.bytes(), Long::sum);
            sinceMs = Math.max(sinceMs, row.weightSinceMs());
          }
        }
      }
    }
    List<Long> bytes =
        bytesByKey.size() == planes ? new ArrayList<>(bytesByKey.values()) : List.of();
    return new OpenTotals(communicators, bytes, sinceMs);
  }

  private static List<Long> read(Path folder, int planes, ToLongFunction<ProcessStats.Row> counter)
      throws IOException {
    Map<String, Long> bytesByKey = new TreeMap<>(Plane.KEY_ORDER);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
      for (Path file : files) {
        for (ProcessStats.Row row : StatsReader.read(file)) {
          if (row.direction() == StatsFile.Direction.SEND) {
            bytesByKey.merge(row.planeKey(), counter.applyAsLong(row), Long::sum);
          }
        }
      }
    }
    return bytesByKey.size() == planes ? new ArrayList<>(bytesByKey.values()) : List.of();
  }
}
