package io.heddle.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ProcessCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of this process, readable by others if {@link StatsMemory} finds a place for a file.
 * Opening and closing of communicators is synchronised, counting isn't.
 */
public final class StatsFile implements AutoCloseable {
  /** Direction of a communicator's data. */
  public enum Direction {
    SEND,
    RECEIVE
  }

  private static final int[] SUMMED = StatsLayout.summed();

  private final Log log;
  private final StatsMemory memory;
  private final long base;
  private final Map<String, Integer> deviceCounters = new HashMap<>();
  /*
   * Address of a record outside the file, for all communicators that find no room in the file; 0
   * until needed.
   */
  private long hiddenSum;

  /**
   * Creates the file {@code <pid>.<namespace>.stats}. Until it is complete, its name ends in {@code
   * .new}. If it can't be created, the log says why, and the counters are in memory only.
   *
   * @param directory folder of the file; null for that of {@link DefaultStatsFolder}. There, the
   *     file is removed when this is closed, or, after a process that ended without closing, when
   *     the next process starts
   */
  public StatsFile(@Nullable Path directory, Log log) {
    this(directory, Path.of("/dev/shm"), log);
  }

  StatsFile(@Nullable Path directory, Path sharedMemory, Log log) {
    this.log = log;
    int pid = ProcessCalls.getpid();
    memory = new StatsMemory(nameOf(pid), directory, sharedMemory, log);
    base = memory.base;
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.COUNT, StatsLayout.RECORDS);
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.PROCESS, pid);
    Memory.ALL.set(Memory.NATIVE_LONG, base + StatsLayout.START, System.currentTimeMillis());
    Memory.setLongRelease(base, StatsLayout.MAGIC);
    memory.publish();
  }

  /** Returns the path of the file; null if the counters are in memory only. */
  public @Nullable Path path() {
    return memory.path();
  }

  /**
   * Returns the orders about drained planes for this process; null if there is no folder for them.
   */
  public @Nullable DrainOrders orders() {
    Path folder = memory.folder();
    return folder == null ? null : DrainOrders.forThisProcess(folder);
  }

  /*
   * Returns the file's name without its ending. Containers may share the folder but not the process
   * numbers: the number of the PID namespace distinguishes their files.
   */
  private static String nameOf(long pid) {
    String namespace = ownNamespace();
    return namespace == null ? Long.toString(pid) : pid + "." + namespace;
  }

  /** Returns the number of this process's PID namespace; null if /proc doesn't show it. */
  static @Nullable String ownNamespace() {
    try {
      String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
      return namespace.substring(namespace.indexOf('[') + 1, namespace.indexOf(']'));
    } catch (IOException hidden) {
      return null;
    }
  }

  /**
   * Reserves a record for a communicator on a plane. When the file is full, later communicators
   * share the sum of the closed ones.
   */
  public PlaneCounters open(Direction direction, String planeKey, int weight, String peer) {
    PlaneCounters counters = opened(direction, planeKey, weight, peer);
    logTrouble();
    return counters;
  }

  /*
   * Logs the memory's pending warning, if any. Called without this object's lock: the log may write
   * warnings into this file, under a lock of its own.
   */
  private void logTrouble() {
    String warning;
    synchronized (this) {
      warning = memory.takeWarning();
    }
    if (warning != null) {
      log.warn("%s", warning);
    }
  }

  private synchronized PlaneCounters opened(
      Direction direction, String planeKey, int weight, String peer) {
    long record = find(StatsLayout.FREE, direction, "", StatsLayout.RECORDS - StatsLayout.SUMS);
    if (record == 0) {
      return new PlaneCounters(sum(direction, planeKey, weight));
    }
    describe(record, direction, planeKey, weight, peer);
    Memory.setIntRelease(record + StatsLayout.STATE, StatsLayout.OPEN);
    return new PlaneCounters(record);
  }

  private static void describe(
      long record, Direction direction, String planeKey, int weight, String peer) {
    Memory.clear(record + Integer.BYTES, StatsLayout.RECORD_BYTES - Integer.BYTES);
    Memory.ALL.set(Memory.NATIVE_INT, record + StatsLayout.DIRECTION, direction.ordinal());
    Memory.ALL.set(Memory.NATIVE_INT, record + StatsLayout.WEIGHT, weight);
    putText(record + StatsLayout.KEY, StatsLayout.KEY_BYTES, planeKey);
    putText(record + StatsLayout.PEER, StatsLayout.PEER_BYTES, peer);
    Memory.ALL.set(Memory.NATIVE_LONG, record + StatsLayout.OPENED, System.currentTimeMillis());
  }

  /** Adds the counters of a closed communicator to the sum of its plane and direction. */
  public void close(PlaneCounters counters) {
    addToSum(counters);
    logTrouble();
  }

  private synchronized void addToSum(PlaneCounters counters) {
    long record = counters.record();
    if (Memory.getIntAcquire(record + StatsLayout.STATE) != StatsLayout.OPEN) {
      return;
    }
    Direction direction =
        Direction.values()[Memory.ALL.get(Memory.NATIVE_INT, record + StatsLayout.DIRECTION)];
    String key = StatsReader.text(Memory.ALL, record + StatsLayout.KEY, StatsLayout.KEY_BYTES);
    long sum = sum(direction, key, Memory.ALL.get(Memory.NATIVE_INT, record + StatsLayout.WEIGHT));
    for (int field : SUMMED) {
      long value = Memory.ALL.get(Memory.NATIVE_LONG, record + field);
      Memory.setLongRelease(sum + field, Memory.ALL.get(Memory.NATIVE_LONG, sum + field) + value);
    }
    Memory.setIntRelease(record + StatsLayout.STATE, StatsLayout.FREE);
  }

  /*
   * Finds or creates the sum of a plane's closed communicators. If no record is free, communicators
   * share the last sum: a lack of room never ends a job.
   */
  private long sum(Direction direction, String planeKey, int weight) {
    long record = find(StatsLayout.SUM, direction, planeKey, StatsLayout.RECORDS);
    if (record == 0) {
      record = find(StatsLayout.FREE, direction, "", StatsLayout.RECORDS);
      if (record == 0) {
        return overflowSum();
      }
      describe(record, direction, planeKey, weight, "closed communicators");
      Memory.setIntRelease(record + StatsLayout.STATE, StatsLayout.SUM);
    }
    return record;
  }

  private long overflowSum() {
    int last = StatsLayout.RECORDS - 1;
    if (memory.hasRoomFor(last)) {
      return base + StatsLayout.record(last);
    }
    if (hiddenSum == 0) {
      hiddenSum = Memory.allocate(Arena.global(), StatsLayout.RECORD_BYTES, Long.BYTES);
    }
    return hiddenSum;
  }

  /*
   * Searches only records that were used, and takes the next one if a free one is needed: touching
   * another page of the file would cost memory.
   */
  private long find(int state, Direction direction, String planeKey, int limit) {
    int used = Memory.ALL.get(Memory.NATIVE_INT, base + StatsLayout.RECORDS_USED);
    for (int i = 0; i < Math.min(used, limit); i++) {
      long record = base + StatsLayout.record(i);
      if (Memory.getIntAcquire(record + StatsLayout.STATE) == state
          && (state == StatsLayout.FREE
              || Memory.ALL.get(Memory.NATIVE_INT, record + StatsLayout.DIRECTION)
                      == direction.ordinal()
                  && StatsReader.text(Memory.ALL, record + StatsLayout.KEY, StatsLayout.KEY_BYTES)
                      .equals(planeKey))) {
        return record;
      }
    }
    if (state != StatsLayout.FREE || used >= limit || !memory.hasRoomFor(used)) {
      return 0;
    }
    Memory.setIntRelease(base + StatsLayout.RECORDS_USED, used + 1);
    return base + StatsLayout.record(used);
  }

  /**
   * Publishes a device's own counter.
   *
   * @param name device/counter; cut to 55 bytes
   */
  public synchronized void setDeviceCounter(String name, long value) {
    Integer known = deviceCounters.get(name);
    int index = known == null ? deviceCounters.size() : known;
    if (index == StatsLayout.DEVICE_COUNTERS) {
      return; // room for ten devices of 25 counters; further ones aren't shown
    }
    long address = base + StatsLayout.deviceCounter(index);
    Memory.setLongRelease(address, value);
    if (known == null) {
      deviceCounters.put(name, index);
      putText(
          address + StatsLayout.DEVICE_COUNTER_NAME, StatsLayout.DEVICE_COUNTER_NAME_BYTES, name);
      Memory.setIntRelease(base + StatsLayout.DEVICE_COUNTERS_USED, index + 1);
    }
  }

  /*
   * Writes the entry of a distinct warning. The version is odd while the entry is written, which
   * makes readers retry.
   */
  synchronized void setError(int index, String sentence, long count, long firstMs, long lastMs) {
    long address = base + StatsLayout.error(index);
    int version = Memory.ALL.get(Memory.NATIVE_INT, address + StatsLayout.ERROR_VERSION);
    Memory.setIntRelease(address + StatsLayout.ERROR_VERSION, version + 1);
    VarHandle.storeStoreFence();
    Memory.ALL.set(Memory.NATIVE_LONG, address + StatsLayout.ERROR_COUNT, count);
    Memory.ALL.set(Memory.NATIVE_LONG, address + StatsLayout.ERROR_FIRST, firstMs);
    Memory.ALL.set(Memory.NATIVE_LONG, address + StatsLayout.ERROR_LAST, lastMs);
    putText(address + StatsLayout.ERROR_TEXT, StatsLayout.ERROR_TEXT_BYTES, sentence);
    Memory.setIntRelease(address + StatsLayout.ERROR_VERSION, version + 2);
    if (Memory.ALL.get(Memory.NATIVE_INT, base + StatsLayout.ERRORS_USED) <= index) {
      Memory.setIntRelease(base + StatsLayout.ERRORS_USED, index + 1);
    }
  }

  synchronized void setErrorsLost(long lost) {
    Memory.setLongRelease(base + StatsLayout.ERRORS_LOST, lost);
  }

  static void putText(long address, int fieldBytes, String text) {
    Memory.clear(address, fieldBytes);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, fieldBytes - 1);
    MemorySegment.copy(bytes, 0, Memory.ALL, JAVA_BYTE, address, length);
  }

  @Override
  public void close() {
    memory.close();
  }
}
