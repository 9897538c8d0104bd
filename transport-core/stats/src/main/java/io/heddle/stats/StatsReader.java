package io.heddle.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reader of the statistics file of any process, running or ended. */
public final class StatsReader {
  private static final int ERROR_READ_ATTEMPTS = 100;

  private StatsReader() {}

  /**
   * Returns only the rows of the file's communicators.
   *
   * @throws HeddleException if the file can't be read or isn't a statistics file
   */
  public static List<ProcessStats.Row> read(Path path) {
    return snapshot(path).rows();
  }

  /**
   * Returns whether the process ended without closing its file, which then stays until another job
   * starts.
   */
  public static boolean hasEnded(Path path) {
    return StaleStats.hasEnded(path);
  }

  /**
   * Reads the file.
   *
   * @throws HeddleException if the file can't be read or isn't a statistics file
   */
  public static ProcessStats snapshot(Path path) {
    try (OpenFolder open = OpenFolder.parentOf(path);
        OpenFile file = open.open(path.getFileName().toString(), false)) {
      requireWhole(path, file);
      long base = file.map(StatsLayout.FILE_BYTES, false);
      try {
        ProcessStats stats = read(path, Memory.ALL.asSlice(base, StatsLayout.FILE_BYTES));
        /*
         * The JVM may report a memory fault only when a later call returns. This is that later call
         * for the reads above, so it must be within the try block.
         */
        requireWhole(path, file);
        return stats;
      } catch (InternalError fault) {
        throw new HeddleException(path + " was cut short while it was read", fault);
      } finally {
        MemoryCalls.unmapMemory(base, StatsLayout.FILE_BYTES);
      }
    } catch (SystemCallException failure) {
      throw new HeddleException(
          "the statistics file " + path + " can't be read: " + FileFailure.reason(failure),
          failure);
    }
  }

  /*
   * Requires a file of full length. Another user may truncate the file at any moment, and a mapping
   * beyond the file's end can't be read.
   */
  private static void requireWhole(Path path, OpenFile file) {
    long bytes = file.status().sizeBytes();
    if (bytes < StatsLayout.FILE_BYTES) {
      throw new HeddleException(
          path
              + " is not a statistics file of this version: it has "
              + bytes
              + " bytes, not "
              + StatsLayout.FILE_BYTES);
    }
  }

  private static ProcessStats read(Path path, MemorySegment map) {
    if (map.get(Memory.NATIVE_LONG, 0) != StatsLayout.MAGIC) {
      throw new HeddleException(
          path + " is not a statistics file of this version; use one release for both");
    }
    return new ProcessStats(
        path,
        map.get(Memory.NATIVE_INT, StatsLayout.PROCESS),
        map.get(Memory.NATIVE_LONG, StatsLayout.START),
        rows(map),
        deviceCounters(map),
        errors(map),
        map.get(Memory.NATIVE_LONG, StatsLayout.ERRORS_LOST));
  }

  private static int used(MemorySegment map, int field, int limit) {
    int used = map.get(Memory.NATIVE_INT, field);
    VarHandle.acquireFence();
    return Math.clamp(used, 0, limit);
  }

  private static List<ProcessStats.Row> rows(MemorySegment map) {
    List<ProcessStats.Row> rows = new ArrayList<>();
    int used = used(map, StatsLayout.RECORDS_USED, StatsLayout.RECORDS);
    for (int i = 0; i < used; i++) {
      long record = StatsLayout.record(i);
      if (map.get(Memory.NATIVE_INT, record + StatsLayout.STATE) != StatsLayout.FREE) {
        rows.add(row(map, record));
      }
    }
    return rows;
  }

  /* Reads acknowledged bytes before sent bytes, so that the former never exceed the latter. */
  private static ProcessStats.Row row(MemorySegment map, long record) {
    Latencies latencies =
        new Latencies(longs(map, record, StatsLayout.LATENCIES, Latencies.BUCKETS));
    long acknowledged = map.get(Memory.NATIVE_LONG, record + StatsLayout.ACKNOWLEDGED);
    VarHandle.acquireFence();
    return new ProcessStats.Row(
        map.get(Memory.NATIVE_INT, record + StatsLayout.STATE) == StatsLayout.OPEN,
        map.get(Memory.NATIVE_INT, record + StatsLayout.DIRECTION) == 0
            ? StatsFile.Direction.SEND
            : StatsFile.Direction.RECEIVE,
        text(map, record + StatsLayout.KEY, StatsLayout.KEY_BYTES),
        map.get(Memory.NATIVE_INT, record + StatsLayout.WEIGHT),
        text(map, record + StatsLayout.PEER, StatsLayout.PEER_BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.CHUNKS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.MESSAGES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.DUPLICATES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.WOULD_BLOCK),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.CUT),
        acknowledged,
        map.get(Memory.NATIVE_LONG, record + StatsLayout.RESENT),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.FAILOVERS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.MOVED_CHUNKS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.MOVED_BYTES),
        oneSided(map, record),
        bytes(map, record + StatsLayout.LOCAL),
        bytes(map, record + StatsLayout.REMOTE),
        text(map, record + StatsLayout.SOURCE, StatsLayout.SOURCE_BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.OPENED),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.WEIGHT_SINCE),
        longs(map, record, StatsLayout.REORDERING, StatsLayout.REORDERINGS),
        latencies);
  }

  private static OneSidedCounts oneSided(MemorySegment map, long record) {
    return new OneSidedCounts(
        map.get(Memory.NATIVE_LONG, record + StatsLayout.PUTS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.SIGNALS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.GETS),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.GET_BYTES),
        map.get(Memory.NATIVE_LONG, record + StatsLayout.FLUSHES));
  }

  private static Map<String, Long> deviceCounters(MemorySegment map) {
    Map<String, Long> counters = new LinkedHashMap<>();
    int used = used(map, StatsLayout.DEVICE_COUNTERS_USED, StatsLayout.DEVICE_COUNTERS);
    for (int i = 0; i < used; i++) {
      long counter = StatsLayout.deviceCounter(i);
      String name =
          text(
              map,
              counter + StatsLayout.DEVICE_COUNTER_NAME,
              StatsLayout.DEVICE_COUNTER_NAME_BYTES);
      counters.put(name, map.get(Memory.NATIVE_LONG, counter));
    }
    return counters;
  }

  private static List<ProcessStats.DistinctError> errors(MemorySegment map) {
    List<ProcessStats.DistinctError> errors = new ArrayList<>();
    int used = used(map, StatsLayout.ERRORS_USED, StatsLayout.ERRORS);
    for (int i = 0; i < used; i++) {
      errors.add(error(map, StatsLayout.error(i)));
    }
    return errors;
  }

  /*
   * Reads an entry that may be written meanwhile. A writer that died while writing leaves the
   * version odd; after some attempts the content is returned as it is.
   */
  private static ProcessStats.DistinctError error(MemorySegment map, long error) {
    for (int attempt = 0; ; attempt++) {
      int before = map.get(Memory.NATIVE_INT, error + StatsLayout.ERROR_VERSION);
      VarHandle.acquireFence();
      ProcessStats.DistinctError found =
          new ProcessStats.DistinctError(
              text(map, error + StatsLayout.ERROR_TEXT, StatsLayout.ERROR_TEXT_BYTES),
              map.get(Memory.NATIVE_LONG, error + StatsLayout.ERROR_COUNT),
              map.get(Memory.NATIVE_LONG, error + StatsLayout.ERROR_FIRST),
              map.get(Memory.NATIVE_LONG, error + StatsLayout.ERROR_LAST));
      VarHandle.acquireFence();
      int after = map.get(Memory.NATIVE_INT, error + StatsLayout.ERROR_VERSION);
      if (before == after && (before & 1) == 0 || attempt == ERROR_READ_ATTEMPTS) {
        return found;
      }
      Thread.onSpinWait();
    }
  }

  private static long[] longs(MemorySegment map, long record, int field, int count) {
    return map.asSlice(record + field, (long) count * Long.BYTES).toArray(Memory.NATIVE_LONG);
  }

  private static byte[] bytes(MemorySegment map, long offset) {
    return map.asSlice(offset, StatsLayout.ADDRESS_BYTES).toArray(JAVA_BYTE);
  }

  static String text(MemorySegment segment, long offset, int fieldBytes) {
    byte[] bytes = new byte[fieldBytes];
    MemorySegment.copy(segment, JAVA_BYTE, offset, bytes, 0, fieldBytes);
    int length = 0;
    while (length < fieldBytes && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
