package io.heddle.transport.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * The statistics file of this process. Opening and closing of communicators is synchronised,
 * counting isn't.
 */
public final class StatsFile implements AutoCloseable {
  /** Which way a communicator's data goes. */
  public enum Direction {
    SEND,
    RECEIVE
  }

  private static final int[] SUMMED = {
    StatsLayout.BYTES,
    StatsLayout.CHUNKS,
    StatsLayout.MESSAGES,
    StatsLayout.DUPLICATES,
    StatsLayout.WOULD_BLOCK
  };

  private final Arena arena = Arena.ofShared();
  private final Path path;
  private final boolean removeWhenClosed;

  /* Open, and locked, as long as the process lives: the kernel then tells others that the file is in use. */
  private final FileChannel channel;
  private final long base;

  /**
   * Makes the file {@code <pid>.stats}.
   *
   * @param directory where; null for {@code /dev/shm/heddle-<user>}, and then the file goes when
   *     this is closed, or when the next process starts after one that ended without closing
   */
  public StatsFile(@Nullable Path directory) {
    removeWhenClosed = directory == null;
    Path folder =
        directory == null
            ? Path.of("/dev/shm/heddle-" + System.getProperty("user.name", "nobody"))
            : directory;
    long pid = ProcessHandle.current().pid();
    path = folder.resolve(pid + ".stats");
    try {
      Files.createDirectories(folder);
      if (removeWhenClosed) {
        StaleStats.remove(folder);
      }
      Files.deleteIfExists(path);
      channel =
          FileChannel.open(
              path,
              java.util.Set.of(
                  StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
      channel.lock();
      MemorySegment mapped =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, StatsLayout.FILE_BYTES, arena);
      base = mapped.address();
    } catch (IOException failure) {
      arena.close();
      throw new HeddleException(
          "the statistics file " + path + " can't be made; HEDDLE_STATS_DIR names another folder",
          failure);
    }
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.COUNT, StatsLayout.RECORDS);
    Memory.ALL.set(Memory.NATIVE_INT, base + StatsLayout.PROCESS, (int) pid);
    Memory.ALL.set(Memory.NATIVE_LONG, base + StatsLayout.START, System.currentTimeMillis() / 1000);
    Memory.setLongRelease(base, StatsLayout.MAGIC);
  }

  public Path path() {
    return path;
  }

  /**
   * Takes a record for a communicator on a plane. When the file is full, the counters of later
   * communicators share the sum of the closed ones.
   */
  public synchronized PlaneCounters open(
      Direction direction, String planeKey, int weight, String peer) {
    long record = find(StatsLayout.FREE, direction, "");
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
  }

  /** Adds the counters of a closed communicator to the sum of its plane and direction. */
  public synchronized void close(PlaneCounters counters) {
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

  private long sum(Direction direction, String planeKey, int weight) {
    long record = find(StatsLayout.SUM, direction, planeKey);
    if (record == 0) {
      record = find(StatsLayout.FREE, direction, "");
      if (record == 0) {
        throw new HeddleException("the statistics file " + path + " has no free record");
      }
      describe(record, direction, planeKey, weight, "closed communicators");
      Memory.setIntRelease(record + StatsLayout.STATE, StatsLayout.SUM);
    }
    return record;
  }

  private long find(int state, Direction direction, String planeKey) {
    for (int i = 0; i < StatsLayout.RECORDS; i++) {
      long record = base + StatsLayout.HEADER_BYTES + (long) i * StatsLayout.RECORD_BYTES;
      if (Memory.getIntAcquire(record + StatsLayout.STATE) == state
          && (state == StatsLayout.FREE
              || Memory.ALL.get(Memory.NATIVE_INT, record + StatsLayout.DIRECTION)
                      == direction.ordinal()
                  && StatsReader.text(Memory.ALL, record + StatsLayout.KEY, StatsLayout.KEY_BYTES)
                      .equals(planeKey))) {
        return record;
      }
    }
    return 0;
  }

  static void putText(long address, int fieldBytes, String text) {
    Memory.clear(address, fieldBytes);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, fieldBytes - 1);
    MemorySegment.copy(bytes, 0, Memory.ALL, JAVA_BYTE, address, length);
  }

  @Override
  public void close() {
    arena.close();
    try {
      channel.close();
      if (removeWhenClosed) {
        Files.deleteIfExists(path);
      }
    } catch (IOException failure) {
      throw new HeddleException("the statistics file " + path + " can't be removed", failure);
    }
  }
}
