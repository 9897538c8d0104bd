package io.heddle.routes;

import static io.heddle.routes.RoutesLayout.getInt;
import static io.heddle.routes.RoutesLayout.getLong;
import static io.heddle.routes.RoutesLayout.setInt;
import static io.heddle.routes.RoutesLayout.setLong;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.NanoClock;
import io.heddle.platform.OpenFile;
import io.heddle.platform.OpenFolder;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writer of a routes file. There is one writer per file on a host, used by one thread.
 *
 * <p>Changes are made between {@link #begin} and {@link #commit}: readers see all of them or none.
 * The file is built under a temporary name, and {@link #goLive} renames it. So after a restart of
 * the daemon, readers use the last weights of the previous daemon until the new one has learned its
 * own. A table that outgrows its file moves to a larger file in the same manner.
 */
public final class RoutePublisher implements RouteTarget, AutoCloseable {
  private static final int FIRST_SLOTS = 1024;
  private static final int[] CELLS = {4, 8, 16, 32, RoutesLayout.MAX_PLANES};

  /* At most eight of ten slots are used: beyond that, chains of colliding entries grow long. */
  private static final int LOAD_TENTHS = 8;

  private final Path path;
  private final OpenFile lock;
  private final NanoClock clock;
  private final String publisher;
  private final int heartbeatPeriodMs;
  private final List<PublishedPlane> planes = new ArrayList<>();
  private final int[] entriesOfLength = new int[129];
  private RoutesMap map;
  private WeightRules rules = WeightRules.DEFAULT;
  private boolean live;
  private boolean changing;
  private boolean changed;
  private boolean closed;

  private RoutePublisher(
      Path path,
      OpenFile lock,
      NanoClock clock,
      RoutesMap map,
      String publisher,
      int heartbeatPeriodMs) {
    this.path = path;
    this.lock = lock;
    this.clock = clock;
    this.map = map;
    this.publisher = publisher;
    this.heartbeatPeriodMs = heartbeatPeriodMs;
  }

  /**
   * Creates a file, which readers don't see until {@link #goLive}.
   *
   * @param publisher name of the publisher, for display
   * @param heartbeatPeriodMs period at which {@link #heartbeat} will be called
   * @throws HeddleException if the file can't be created, or another daemon publishes there
   */
  public static RoutePublisher create(
      Path path, String publisher, WeightRules rules, int heartbeatPeriodMs, NanoClock clock) {
    OpenFile lock = PublishLock.take(path);
    try {
      RoutesMap.requireReplaceable(path);
      RoutesMap map = RoutesMap.create(unfinishedPath(path), CELLS[0], FIRST_SLOTS);
      RoutePublisher made =
          new RoutePublisher(path, lock, clock, map, publisher, heartbeatPeriodMs);
      made.writeHeader(rules);
      return made;
    } catch (RuntimeException failure) {
      lock.close();
      throw failure;
    }
  }

  private void writeHeader(WeightRules of) {
    long base = map.base;
    setInt(base + RoutesLayout.PROCESS, (int) ProcessHandle.current().pid());
    setLong(base + RoutesLayout.START, System.currentTimeMillis());
    setInt(base + RoutesLayout.HEARTBEAT_PERIOD, heartbeatPeriodMs);
    writeRules(of);
    RoutesLayout.putText(base + RoutesLayout.PUBLISHER, RoutesLayout.PUBLISHER_BYTES, publisher);
    heartbeat();
    setLong(base + RoutesLayout.CHANGED, clock.nanoTime());
    Memory.setLongRelease(base, RoutesLayout.MAGIC);
  }

  /**
   * Returns whether another process has cut the file short, so that a store would cause a memory
   * fault.
   */
  @Override
  public boolean isTruncated() {
    requireOpen();
    return !map.isWhole();
  }

  /**
   * Replaces a file that was cut short. The new file has the same planes and rules but no routes,
   * and isn't live yet.
   *
   * @throws HeddleException if the file can't be created
   */
  @Override
  public void renew() {
    requireOpen();
    RoutesMap before = map;
    map = RoutesMap.create(unfinishedPath(path), before.cells, before.slots);
    live = false;
    changing = false;
    changed = false;
    Arrays.fill(entriesOfLength, 0);
    writeHeader(rules);
    for (int i = 0; i < planes.size(); i++) {
      writePlane(map.base, i, planes.get(i));
    }
    setInt(map.base + RoutesLayout.PLANES, planes.size());
    before.close();
  }

  private void writeRules(WeightRules rules) {
    setInt(map.base + RoutesLayout.MISSING_FIGURE, rules.missingFigure().ordinal());
    setInt(map.base + RoutesLayout.DEFAULT_WEIGHT, rules.defaultWeight());
    setInt(map.base + RoutesLayout.BORROWED_PERCENT, rules.borrowedPercent());
    this.rules = rules;
  }

  /**
   * Sets the rules by which readers compute weights from now on. Not allowed between {@link #begin}
   * and {@link #commit}.
   */
  @Override
  public void setRules(WeightRules next) {
    requireOpen();
    if (!next.equals(rules)) {
      begin();
      write();
      writeRules(next);
      commit();
    }
  }

  private static Path unfinishedPath(Path path) {
    return path.resolveSibling(path.getFileName() + ".new");
  }

  @Override
  public Path path() {
    return path;
  }

  /** Returns the planes, in order of their numbers. */
  @Override
  public List<PublishedPlane> planes() {
    return List.copyOf(planes);
  }

  /**
   * Adds a plane, or changes the plane that has the same key. Not allowed between {@link #begin}
   * and {@link #commit}.
   *
   * @return the plane's number, which it keeps
   * @throws HeddleException for more than 64 planes, or if a larger file can't be created
   */
  @Override
  public int setPlane(PublishedPlane plane) {
    requireOpen();
    int index = 0;
    while (index < planes.size() && !planes.get(index).key().equals(plane.key())) {
      index++;
    }
    if (index == planes.size()) {
      if (index == RoutesLayout.MAX_PLANES) {
        throw new HeddleException(
            "plane " + plane.key() + " exceeds the limit: a host has at most 64 planes");
      }
      if (index == map.cells) {
        moveTo(cellsFor(index + 1), map.slots);
      }
      planes.add(plane);
    } else if (planes.get(index).equals(plane)) {
      return index;
    } else {
      planes.set(index, plane);
    }
    begin();
    write();
    writePlane(map.base, index, plane);
    setInt(map.base + RoutesLayout.PLANES, planes.size());
    commit();
    return index;
  }

  private static int cellsFor(int planes) {
    int choice = 0;
    while (CELLS[choice] < planes) {
      choice++;
    }
    return CELLS[choice];
  }

  private static void writePlane(long base, int index, PublishedPlane plane) {
    long record = base + RoutesLayout.planeOffset(index);
    RoutesLayout.putText(record, RoutesLayout.PLANE_KEY_BYTES, plane.key());
    byte[] source = RoutesLayout.bytes(plane.source());
    for (int i = 0; i < source.length; i++) {
      Memory.ALL.set(
          java.lang.foreign.ValueLayout.JAVA_BYTE,
          record + RoutesLayout.PLANE_SOURCE + i,
          source[i]);
    }
    setInt(record + RoutesLayout.PLANE_RATE, Math.clamp(plane.rateMbps(), 0, Integer.MAX_VALUE));
    RoutesLayout.putText(
        record + RoutesLayout.PLANE_VIA, RoutesLayout.PLANE_VIA_BYTES, plane.via());
  }

  /**
   * Begins a change. From its first store until {@link #commit}, readers of this file wait or keep
   * their results.
   */
  @Override
  public void begin() {
    requireOpen();
    changing = true;
  }

  /**
   * Sets a plane's cell of a prefix; {@link RouteCell#EMPTY} removes it.
   *
   * @param high the prefix's first 64 bits; bits beyond its length are zero
   * @param plane a number that {@link #setPlane} returned
   * @throws HeddleException if the table needs a larger file that can't be created; earlier entries
   *     stay in the table
   */
  @Override
  public void set(long high, long low, int length, int plane, int cell) {
    requireOpen();
    long slot = map.find(high, low, length);
    if (slot < 0) {
      if (cell == RouteCell.EMPTY) {
        return;
      }
      if (entries() >= maxEntries(map.slots)) {
        moveTo(map.cells, map.slots * 2);
        slot = map.find(high, low, length);
      }
      write();
      slot = ~slot;
      setLong(slot + RoutesLayout.SLOT_HIGH, high);
      setLong(slot + RoutesLayout.SLOT_LOW, low);
      setInt(slot + RoutesLayout.SLOT_LENGTH, length + 1);
      setInt(map.base + RoutesLayout.ENTRIES, entries() + 1);
      if (entriesOfLength[length]++ == 0) {
        flipLength(length);
      }
    }
    long address = slot + RoutesLayout.SLOT_CELLS + (long) plane * Integer.BYTES;
    if (getInt(address) == cell) {
      return;
    }
    write();
    setInt(address, cell);
    if (cell == RouteCell.EMPTY && isEmpty(slot)) {
      map.free(slot);
      setInt(map.base + RoutesLayout.ENTRIES, entries() - 1);
      if (--entriesOfLength[length] == 0) {
        flipLength(length);
      }
    }
  }

  /* Returns the number of prefixes that a table of this many slots holds before it grows. */
  private static int maxEntries(int slots) {
    return slots / 10 * LOAD_TENTHS;
  }

  @Override
  public void reserve(int prefixes) {
    requireOpen();
    int slots = map.slots;
    while (maxEntries(slots) < prefixes) {
      slots *= 2;
    }
    if (slots > map.slots) {
      moveTo(map.cells, slots);
    }
  }

  /** Removes all routes, as part of a change. */
  @Override
  public void clear() {
    requireOpen();
    if (entries() > 0) {
      write();
      Memory.clear(map.firstSlot, (long) map.slots * map.slotBytes);
      Memory.clear(map.base + RoutesLayout.LENGTHS, 3 * Long.BYTES);
      setInt(map.base + RoutesLayout.ENTRIES, 0);
      Arrays.fill(entriesOfLength, 0);
    }
  }

  /*
   * Refuses calls after the close, when the file's memory is unmapped and a store would end the
   * process.
   */
  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the routes file " + path + " is closed");
    }
  }

  private boolean isEmpty(long slot) {
    for (int plane = 0; plane < map.cells; plane++) {
      if (getInt(slot + RoutesLayout.SLOT_CELLS + (long) plane * Integer.BYTES)
          != RouteCell.EMPTY) {
        return false;
      }
    }
    return true;
  }

  private void flipLength(int length) {
    long word = map.base + RoutesLayout.LENGTHS + length / Long.SIZE * (long) Long.BYTES;
    setLong(word, getLong(word) ^ 1L << length);
  }

  /*
   * Prepares a store, which must be part of a change. The sequence becomes odd with the first
   * store, so that an empty change disturbs no reader.
   */
  private void write() {
    if (!changing) {
      throw new IllegalStateException("a change of the routes file without begin()");
    }
    if (!changed) {
      changed = true;
      SequenceLock.beginWrite(map.base + RoutesLayout.SEQUENCE);
    }
  }

  /**
   * Ends the change and wakes waiting readers.
   *
   * @return whether anything changed
   */
  @Override
  public boolean commit() {
    requireOpen();
    boolean any = changed;
    if (any) {
      long sequence = map.base + RoutesLayout.SEQUENCE;
      setLong(map.base + RoutesLayout.CHANGED, clock.nanoTime());
      SequenceLock.endWrite(sequence);
      MemoryCalls.futexWakeAll(sequence);
    }
    changing = false;
    changed = false;
    return any;
  }

  /** Returns the generation that readers see; it grows with each commit of a real change. */
  public long generation() {
    requireOpen();
    return getLong(map.base + RoutesLayout.SEQUENCE) >>> 1;
  }

  /** Returns the number of prefixes in the table. */
  @Override
  public int entries() {
    requireOpen();
    return getInt(map.base + RoutesLayout.ENTRIES);
  }

  /** Shows readers that the daemon is alive. */
  public void heartbeat() {
    requireOpen();
    Memory.setLongRelease(map.base + RoutesLayout.HEARTBEAT, clock.nanoTime());
  }

  /**
   * Renames the finished file to its final name. Readers of the previous file then switch to it.
   */
  public void goLive() {
    requireOpen();
    if (!live) {
      live = true;
      replaceFile(map);
    }
  }

  public boolean isLive() {
    return live;
  }

  private void replaceFile(RoutesMap next) {
    RoutesMap before = null;
    try {
      before = RoutesMap.openToSupersede(path);
    } catch (HeddleException foreign) {
      /* The existing file is another release's or another user's, and is replaced too. */
    }
    heartbeat();
    setInt(next.base + RoutesLayout.STATE, RoutesLayout.LIVE);
    try (OpenFolder folder = OpenFolder.parentOf(path)) {
      folder.rename(unfinishedPath(path).getFileName().toString(), path.getFileName().toString());
    } catch (SystemCallException failure) {
      throw new HeddleException(
          "the routes file can't take its name " + path + ": " + FileFailure.reason(failure),
          failure);
    }
    if (before != null) {
      end(before, RoutesLayout.SUPERSEDED);
      before.close();
    }
  }

  /*
   * Sets the final state of a file. The sequence changes, so that waiting readers wake. It stays
   * odd if a dead writer left a change unfinished.
   */
  private static void end(RoutesMap map, int state) {
    Memory.setIntRelease(map.base + RoutesLayout.STATE, state);
    long sequence = map.base + RoutesLayout.SEQUENCE;
    Memory.setLongRelease(sequence, getLong(sequence) + 2);
    MemoryCalls.futexWakeAll(sequence);
  }

  /*
   * Copies everything to a new file, which has other numbers of cells and slots. If a change is in
   * progress, readers of the old file see the part made so far as if it were the whole change. Each
   * entry is consistent in itself.
   */
  private void moveTo(int cells, int slots) {
    RoutesMap next = RoutesMap.create(unfinishedPath(path), cells, slots);
    Memory.copy(map.base, next.base, RoutesLayout.CELLS);
    Memory.copy(map.base + RoutesLayout.PLANES, next.base + RoutesLayout.PLANES, Integer.BYTES);
    Memory.copy(
        map.base + RoutesLayout.ENTRIES,
        next.base + RoutesLayout.ENTRIES,
        RoutesLayout.planeOffset(planes.size()) - RoutesLayout.ENTRIES);
    for (int i = 0; i < map.slots; i++) {
      long from = map.slot(i);
      int length = getInt(from + RoutesLayout.SLOT_LENGTH) - 1;
      if (length >= 0) {
        long to =
            ~next.find(
                getLong(from + RoutesLayout.SLOT_HIGH),
                getLong(from + RoutesLayout.SLOT_LOW),
                length);
        Memory.copy(from, to, Math.min(map.slotBytes, next.slotBytes));
      }
    }
    long sequence = next.base + RoutesLayout.SEQUENCE;
    setLong(sequence, (getLong(sequence) | 1) + 1);
    RoutesMap before = map;
    map = next;
    changed = false;
    if (live) {
      if (SequenceLock.isBeingChanged(getLong(before.base + RoutesLayout.SEQUENCE))) {
        SequenceLock.endWrite(before.base + RoutesLayout.SEQUENCE);
      }
      replaceFile(next);
    }
    before.close();
  }

  /** Marks the daemon as ended in good order. The routes stay readable. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (live && map.isWhole()) {
      end(map, RoutesLayout.ENDED);
    }
    map.close();
    try {
      Files.deleteIfExists(unfinishedPath(path));
    } catch (IOException left) {
      /* Leaves the unfinished file: the next daemon replaces it. */
    }
    lock.close();
  }
}
