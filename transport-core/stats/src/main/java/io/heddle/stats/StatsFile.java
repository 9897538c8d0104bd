package io.heddle.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
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
 * The statistics of this process, for others to read where {@link StatsMemory} finds a file for
 * them. Opening and closing of communicators is synchronised, counting isn't.
 */
public final class StatsFile implements AutoCloseable {
  /** Which way a communicator's data goes. */
  public enum Direction {
    SEND,
    RECEIVE
  }

  private static final int[] SUMMED = StatsLayout.summed();

  private final Log log;
  private final StatsMemory memory;
  private final long base;
  private final Map<String, Integer> deviceCounters = new HashMap<>();
  /* A sum that nobody reads, for communicators that find no room; 0 until one doesn't. */
  private long unread;

  /**
   * Makes the file {@code <pid>.<namespace>.stats}. Its name appears once it is whole: until then
   * {@code .new} is behind it. Where it can't be made, the log says why, and counters are in memory
   * only.
   *
   * @param directory where; null for what {@link UsualFolder} says, and then the file goes when
   *     this is closed, or when the next process starts after one that ended without closing
   */
  public StatsFile(@Nullable Path directory, Log log) {
    this(directory, Path.of("/dev/shm"), log);
  }

  StatsFile(@Nullable Path directory, Path sharedMemory, Log log) {
    this.log = log;
    int pid = LinuxCalls.getpid();
    memory = new StatsMemory(nameOf(pid), directory, sharedMemory, log);
    base = memory.base;
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.COUNT, StatsLayout.RECORDS);
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.PROCESS, pid);
    Memory.ALL.set(Memory.NATIVE_LONG, base + StatsLayout.START, System.currentTimeMillis());
    Memory.setLongRelease(base, StatsLayout.MAGIC);
    memory.publish();
  }

  /** Null where the counters are in memory only. */
  public @Nullable Path path() {
    return memory.path();
  }

  /** What this process is told of drained planes; null where there is no folder for that. */
  public @Nullable DrainOrders orders() {
    Path folder = memory.folder();
    return folder == null ? null : DrainOrders.toThisProcess(folder);
  }

  /* Containers may share the folder and not the process numbers: the number of their namespace keeps them apart. */
  private static String nameOf(long pid) {
    String namespace = ownNamespace();
    return namespace == null ? Long.toString(pid) : pid + "." + namespace;
  }

  /** The number of the namespace of this process's number; null where /proc doesn't show it. */
  static @Nullable String ownNamespace() {
    try {
      String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
      return namespace.substring(namespace.indexOf('[') + 1, namespace.indexOf(']'));
    } catch (IOException hidden) {
      return null;
    }
  }

  /**
   * Takes a record for a communicator on a plane. When the file is full, the counters of later
   * communicators share the sum of the closed ones.
   */
  public PlaneCounters open(Direction direction, String planeKey, int weight, String peer) {
    PlaneCounters counters = opened(direction, planeKey, weight, peer);
    tellTrouble();
    return counters;
  }

  /* Without this object's lock: the log may be the one that writes warnings into this file, with a lock of its own. */
  private void tellTrouble() {
    String trouble;
    synchronized (this) {
      trouble = memory.trouble();
    }
    if (trouble != null) {
      log.warn("%s", trouble);
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
    tellTrouble();
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

  /* A last sum is everybody's: statistics never end a job. */
  private long sum(Direction direction, String planeKey, int weight) {
    long record = find(StatsLayout.SUM, direction, planeKey, StatsLayout.RECORDS);
    if (record == 0) {
      record = find(StatsLayout.FREE, direction, "", StatsLayout.RECORDS);
      if (record == 0) {
        return last();
      }
      describe(record, direction, planeKey, weight, "closed communicators");
      Memory.setIntRelease(record + StatsLayout.STATE, StatsLayout.SUM);
    }
    return record;
  }

  private long last() {
    int last = StatsLayout.RECORDS - 1;
    if (memory.hasRoomFor(last)) {
      return base + StatsLayout.record(last);
    }
    if (unread == 0) {
      unread = Memory.allocate(Arena.global(), StatsLayout.RECORD_BYTES, Long.BYTES);
    }
    return unread;
  }

  /* Looks only at records that were used, and takes the next one where a free one is wanted: each look at another page
  of the file would cost memory. */
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
   * Shows a device's own counter.
   *
   * @param name device/counter; cut to 55 bytes
   */
  public synchronized void setDeviceCounter(String name, long value) {
    Integer known = deviceCounters.get(name);
    int index = known == null ? deviceCounters.size() : known;
    if (index == StatsLayout.DEVICE_COUNTERS) {
      return; // ten devices of 25 counters; what comes after them isn't shown
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

  /* An odd version tells readers to look again. */
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
