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

  /** Exception for a value that no process writes. */
  private static final class Damaged extends RuntimeException {
    private static final long serialVersionUID = 1;

    Damaged(String value) {
      super(value);
    }
  }

  private final MemorySegment map;
  /* Sum of all counters. Without overflow, sums over communicators don't overflow either. */
  private long total;

  private StatsReader(MemorySegment map) {
    this.map = map;
  }

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
        ProcessStats stats =
            new StatsReader(Memory.ALL.asSlice(base, StatsLayout.FILE_BYTES)).statistics(path);
        /*
         * The JVM may report a memory fault only when a later call returns. This is that later call
         * for the reads above, so it must be within the try block.
         */
        requireWhole(path, file);
        return stats;
      } catch (Damaged damaged) {
        throw new HeddleException(
            path + " is damaged: it contains " + damaged.getMessage(), damaged);
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

  private ProcessStats statistics(Path path) {
    if (map.get(Memory.NATIVE_LONG, 0) != StatsLayout.MAGIC) {
      throw new HeddleException(
          path + " is not a statistics file of this version; use one release for both");
    }
    return new ProcessStats(
        path,
        map.get(Memory.NATIVE_INT, StatsLayout.PROCESS),
        count(StatsLayout.START),
        rows(),
        deviceCounters(),
        errors(),
        count(StatsLayout.ERRORS_LOST));
  }

  private int used(int field, int limit) {
    int used = map.get(Memory.NATIVE_INT, field);
    VarHandle.acquireFence();
    if (used < 0 || used > limit) {
      throw new Damaged(used + " entries of at most " + limit);
    }
    return used;
  }

  private List<ProcessStats.Row> rows() {
    List<ProcessStats.Row> rows = new ArrayList<>();
    int used = used(StatsLayout.RECORDS_USED, StatsLayout.RECORDS);
    for (int i = 0; i < used; i++) {
      long record = StatsLayout.record(i);
      int state = choice(record + StatsLayout.STATE, StatsLayout.SUM + 1);
      if (state != StatsLayout.FREE) {
        rows.add(row(record, state == StatsLayout.OPEN));
      }
    }
    return rows;
  }

  /* Reads acknowledged bytes before sent bytes, so that the former never exceed the latter. */
  private ProcessStats.Row row(long record, boolean open) {
    Latencies latencies = new Latencies(longs(record, StatsLayout.LATENCIES, Latencies.BUCKETS));
    long acknowledged = count(record + StatsLayout.ACKNOWLEDGED);
    VarHandle.acquireFence();
    return new ProcessStats.Row(
        open,
        choice(record + StatsLayout.DIRECTION, 2) == 0
            ? StatsFile.Direction.SEND
            : StatsFile.Direction.RECEIVE,
        text(map, record + StatsLayout.KEY, StatsLayout.KEY_BYTES),
        choice(record + StatsLayout.WEIGHT, Integer.MAX_VALUE),
        text(map, record + StatsLayout.PEER, StatsLayout.PEER_BYTES),
        count(record + StatsLayout.BYTES),
        count(record + StatsLayout.CHUNKS),
        count(record + StatsLayout.MESSAGES),
        count(record + StatsLayout.DUPLICATES),
        count(record + StatsLayout.WOULD_BLOCK),
        count(record + StatsLayout.CUT),
        acknowledged,
        count(record + StatsLayout.RESENT),
        count(record + StatsLayout.FAILOVERS),
        count(record + StatsLayout.MOVED_CHUNKS),
        count(record + StatsLayout.MOVED_BYTES),
        oneSided(record),
        bytes(record + StatsLayout.LOCAL),
        bytes(record + StatsLayout.REMOTE),
        text(map, record + StatsLayout.SOURCE, StatsLayout.SOURCE_BYTES),
        count(record + StatsLayout.OPENED),
        count(record + StatsLayout.WEIGHT_SINCE),
        longs(record, StatsLayout.REORDERING, StatsLayout.REORDERINGS),
        latencies);
  }

  private OneSidedCounts oneSided(long record) {
    return new OneSidedCounts(
        count(record + StatsLayout.PUTS),
        count(record + StatsLayout.SIGNALS),
        count(record + StatsLayout.GETS),
        count(record + StatsLayout.GET_BYTES),
        count(record + StatsLayout.FLUSHES));
  }

  private Map<String, Long> deviceCounters() {
    Map<String, Long> counters = new LinkedHashMap<>();
    int used = used(StatsLayout.DEVICE_COUNTERS_USED, StatsLayout.DEVICE_COUNTERS);
    for (int i = 0; i < used; i++) {
      long counter = StatsLayout.deviceCounter(i);
      String name =
          text(
              map,
              counter + StatsLayout.DEVICE_COUNTER_NAME,
              StatsLayout.DEVICE_COUNTER_NAME_BYTES);
      if (name.indexOf('/') <= 0) {
        throw new Damaged("a device counter called \"" + name + "\"");
      }
      counters.put(name, count(counter));
    }
    return counters;
  }

  private List<ProcessStats.DistinctError> errors() {
    List<ProcessStats.DistinctError> errors = new ArrayList<>();
    int used = used(StatsLayout.ERRORS_USED, StatsLayout.ERRORS);
    for (int i = 0; i < used; i++) {
      errors.add(error(StatsLayout.error(i)));
    }
    return errors;
  }

  /*
   * Reads an entry that may be written meanwhile. A writer that died while writing leaves the
   * version odd; after some attempts the content is returned as it is.
   */
  private ProcessStats.DistinctError error(long error) {
    for (int attempt = 0; ; attempt++) {
      int before = map.get(Memory.NATIVE_INT, error + StatsLayout.ERROR_VERSION);
      VarHandle.acquireFence();
      ProcessStats.DistinctError found =
          new ProcessStats.DistinctError(
              text(map, error + StatsLayout.ERROR_TEXT, StatsLayout.ERROR_TEXT_BYTES),
              count(error + StatsLayout.ERROR_COUNT),
              count(error + StatsLayout.ERROR_FIRST),
              count(error + StatsLayout.ERROR_LAST));
      VarHandle.acquireFence();
      int after = map.get(Memory.NATIVE_INT, error + StatsLayout.ERROR_VERSION);
      if (before == after && (before & 1) == 0 || attempt == ERROR_READ_ATTEMPTS) {
        return found;
      }
      Thread.onSpinWait();
    }
  }

  private long[] longs(long record, int field, int count) {
    long[] counts = new long[count];
    for (int i = 0; i < count; i++) {
      counts[i] = count(record + field + (long) i * Long.BYTES);
    }
    return counts;
  }

  private long count(long offset) {
    long count = map.get(Memory.NATIVE_LONG, offset);
    total += count;
    if (count < 0 || total < 0) {
      throw new Damaged("the counter " + count);
    }
    return count;
  }

  private int choice(long offset, int choices) {
    int choice = map.get(Memory.NATIVE_INT, offset);
    if (choice < 0 || choice >= choices) {
      throw new Damaged("the value " + choice + ", not below " + choices);
    }
    return choice;
  }

  private byte[] bytes(long offset) {
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
