package io.heddle.cli.job;

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
 * What the plugin's own counters say that each plane has carried, summed over the ranks of a run.
 */
public final class SentByPlane {
  private SentByPlane() {}

  /**
   * Message bytes sent, in the order of plane keys.
   *
   * @param folder where the ranks left their statistics files
   * @return empty where no file is there, or where the planes that it names aren't as many as
   *     expected
   */
  public static List<Long> read(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::bytes);
  }

  /** As {@link #read(Path, int)}, of bytes whose arrival was acknowledged. */
  public static List<Long> acknowledged(Path folder, int planes) throws IOException {
    return read(folder, planes, ProcessStats.Row::acknowledgedBytes);
  }

  /**
   * What communicators that are open have sent.
   *
   * @param communicators rows of them: one a plane
   * @param bytes message bytes in the order of plane keys
   * @param weightsSinceMs when the last of them came to its weights, milliseconds since 1970
   */
  public record Open(int communicators, List<Long> bytes, long weightsSinceMs) {}

  /** As {@link #read(Path, int)}, without communicators that are closed. */
  public static Open open(Path folder, int planes) throws IOException {
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
    return new Open(communicators, bytes, sinceMs);
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
