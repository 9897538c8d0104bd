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

/**
 * Reader of the bytes sent on each plane, by the plugin's counters, summed over the ranks of a run.
 */
public final class SentByPlane {
  private SentByPlane() {}

  /**
   * Returns the number of sent message bytes of each plane, in the order of plane keys.
   *
   * @param folder folder of the ranks' statistics files
   * @return empty if there is no file, or if the number of planes in it differs from the expected
   *     one
   */
  public static List<Long> read(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::bytes);
  }

  /**
   * Returns the number of acknowledged message bytes of each plane, in the order of plane keys.
   *
   * @return empty in the same cases as {@link #read(Path, int)}
   */
  public static List<Long> acknowledged(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::acknowledgedBytes);
  }

  /**
   * Totals of the open communicators.
   *
   * @param communicators number of the open communicators' statistics rows, one per communicator
   *     and plane
   * @param bytes number of sent message bytes of each plane, in the order of plane keys
   * @param weightsSinceMs time of the newest change of weights, milliseconds since 1970
   */
  public record OpenTotals(int communicators, List<Long> bytes, long weightsSinceMs) {}

  /** Returns totals like {@link #read(Path, int)}, for open communicators only. */
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
