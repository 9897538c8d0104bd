package io.heddle.routes;

import static io.heddle.routes.RoutesLayout.getInt;
import static io.heddle.routes.RoutesLayout.getLong;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.NanoClock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reader of a routes file. It takes no lock, and waits for the daemon only as long as a change
 * takes. If a daemon dies in the middle of a change, a look-up fails; it never returns a torn
 * result.
 *
 * <p>Several threads may call {@link #resolve}, each with an answer of its own. {@link #close} may
 * be called only when no other call is in progress.
 *
 * <p>Another process may cut the file short, which removes memory under its readers. Every call
 * then ends with a {@link RoutesTruncatedException}: the file's size is checked before and after
 * reading, and a memory fault in between is caught. Only {@link #resolve} doesn't check the size,
 * which would cost too much: trust its results only within {@link #reading}.
 */
public final class RouteReader implements AutoCloseable {
  private static final long GIVE_UP_NS = 2_000_000;
  private static final int TRIES_PER_LOOK_AT_CLOCK = 64;

  /*
   * A daemon counts as silent after this number of heartbeat periods, but not before the minimum
   * time, since heartbeats are late on a busy machine.
   */
  private static final int MISSED_HEARTBEATS = 5;
  private static final long LEAST_SILENCE_NS = 1_000_000_000;

  private final Path path;
  private final RoutesMap map;
  private final NanoClock clock;

  /*
   * Last new heartbeat, and the time by this process's own clock at which it was seen. The daemon's
   * clock may have another origin, in a time namespace.
   */
  private long lastHeartbeat;
  private long lastHeartbeatSeenNs;

  private RouteReader(Path path, RoutesMap map, NanoClock clock) {
    this.path = path;
    this.map = map;
    this.clock = clock;
  }

  private void begin(long heartbeat) {
    lastHeartbeat = heartbeat;
    long now = clock.nanoTime();
    long age = now - heartbeat;
    /*
     * A negative age means that the daemon's clock has another origin. The daemon then counts as
     * alive.
     */
    lastHeartbeatSeenNs = age >= 0 ? heartbeat : now;
  }

  private long heartbeat() {
    return reading(() -> Memory.getLongAcquire(map.base + RoutesLayout.HEARTBEAT));
  }

  /**
   * Opens the file.
   *
   * @return null if there is no file, as on a host without a daemon
   * @throws HeddleException for a file that isn't a routes file, or can't be read
   */
  public static @Nullable RouteReader open(Path path, NanoClock clock) {
    RoutesMap map = RoutesMap.open(path);
    if (map == null) {
      return null;
    }
    RouteReader reader = new RouteReader(path, map, clock);
    try {
      reader.begin(reader.heartbeat());
      return reader;
    } catch (RoutesTruncatedException truncated) {
      reader.close();
      throw truncated;
    }
  }

  /** Returns the route daemon's key of each plane, by this host's address on the plane. */
  public static Map<InetAddress, String> keys(List<PublishedPlane> planes) {
    Map<InetAddress, String> keys = new HashMap<>();
    for (PublishedPlane plane : planes) {
      if (plane.source() != null) {
        keys.put(plane.source(), plane.key());
      }
    }
    return keys;
  }

  /**
   * Runs a function that reads the file. Returns its result only if the file had its full length
   * before and after.
   *
   * @throws RoutesTruncatedException if another process has cut the file short
   */
  public <T> T reading(Supplier<T> reads) {
    map.requireWhole();
    try {
      T result = reads.get();
      /*
       * The JVM may report a memory fault only when a later call returns. This is that later call
       * for the reads above, so it must be within the try block.
       */
      map.requireWhole();
      return result;
    } catch (InternalError fault) {
      throw map.truncationException(fault);
    }
  }

  /**
   * Finds the longest match for a destination for each plane. Trust the result only within {@link
   * #reading}.
   *
   * @param high the address's first 64 bits
   * @param answer receives the result, which is valid if this method returns true
   * @return false if no consistent state could be read within 2 ms: the daemon is in the middle of
   *     a change, or died in the middle of one
   */
  public boolean resolve(long high, long low, RouteAnswer answer) {
    try {
      return find(high, low, answer);
    } catch (InternalError fault) {
      throw map.truncationException(fault);
    }
  }

  private boolean find(long high, long low, RouteAnswer answer) {
    long start = 0;
    for (int tries = 1; ; tries++) {
      long sequence = SequenceLock.beginRead(map.base + RoutesLayout.SEQUENCE);
      if (!SequenceLock.isBeingChanged(sequence)) {
        read(high, low, answer);
        if (SequenceLock.isUnchanged(map.base + RoutesLayout.SEQUENCE, sequence)) {
          answer.generation = sequence >>> 1;
          return true;
        }
      }
      if (tries % TRIES_PER_LOOK_AT_CLOCK == 0) {
        long now = System.nanoTime();
        start = start == 0 ? now : start;
        if (now - start > GIVE_UP_NS) {
          return false;
        }
        Thread.yield(); // the daemon may need this core
      }
      Thread.onSpinWait();
    }
  }

  private void read(long high, long low, RouteAnswer answer) {
    long base = map.base;
    int planes = Math.clamp(getInt(base + RoutesLayout.PLANES), 0, map.cells);
    int missing = getInt(base + RoutesLayout.MISSING_FIGURE);
    answer.planes = planes;
    answer.missingFigure =
        missing == MissingFigure.SKIP.ordinal()
            ? MissingFigure.SKIP
            : missing == MissingFigure.DEFAULT.ordinal()
                ? MissingFigure.DEFAULT
                : MissingFigure.EQUAL;
    /* Keeps both values within the bounds that weight() relies on, whatever the file contains. */
    answer.defaultWeight =
        Math.clamp(getInt(base + RoutesLayout.DEFAULT_WEIGHT), 1, RouteCell.LARGEST_WEIGHT);
    answer.borrowedPercent = Math.clamp(getInt(base + RoutesLayout.BORROWED_PERCENT), 0, 100);
    for (int plane = 0; plane < planes; plane++) {
      answer.cells[plane] = RouteCell.EMPTY;
    }
    int undecided = planes;
    int shortest = RoutesLayout.shortestFor(high, low);
    for (int word = 2; word >= shortest >>> 6 && undecided > 0; word--) {
      long lengths = getLong(base + RoutesLayout.LENGTHS + (long) word * Long.BYTES);
      while (lengths != 0 && undecided > 0) {
        int bit = Long.SIZE - 1 - Long.numberOfLeadingZeros(lengths);
        lengths ^= 1L << bit;
        int length = word * Long.SIZE + bit;
        if (length < shortest) {
          return;
        }
        undecided -= take(high, low, length, answer);
      }
    }
  }

  /*
   * Looks up the prefix of this length, and copies its cells for the planes that have no cell in
   * the answer yet. Returns the number of cells copied.
   */
  private int take(long high, long low, int length, RouteAnswer answer) {
    if (length > 128) {
      return 0;
    }
    long slot =
        map.find(RoutesLayout.maskHigh(high, length), RoutesLayout.maskLow(low, length), length);
    if (slot < 0) {
      return 0;
    }
    int decided = 0;
    for (int plane = 0; plane < answer.planes; plane++) {
      int cell = getInt(slot + RoutesLayout.SLOT_CELLS + (long) plane * Integer.BYTES);
      if (cell != RouteCell.EMPTY && answer.cells[plane] == RouteCell.EMPTY) {
        answer.cells[plane] = cell;
        answer.lengths[plane] = (short) length;
        decided++;
      }
    }
    return decided;
  }

  /**
   * Returns the planes, in order of their numbers; empty if no consistent state could be read
   * within 2 ms.
   */
  public List<PublishedPlane> planes() {
    return reading(this::readPlanes);
  }

  private List<PublishedPlane> readPlanes() {
    long start = System.nanoTime();
    while (System.nanoTime() - start < GIVE_UP_NS) {
      long sequence = SequenceLock.beginRead(map.base + RoutesLayout.SEQUENCE);
      if (!SequenceLock.isBeingChanged(sequence)) {
        List<PublishedPlane> planes = new ArrayList<>();
        int count = Math.clamp(getInt(map.base + RoutesLayout.PLANES), 0, map.cells);
        for (int i = 0; i < count; i++) {
          planes.add(plane(map.base + RoutesLayout.planeOffset(i)));
        }
        if (SequenceLock.isUnchanged(map.base + RoutesLayout.SEQUENCE, sequence)) {
          return planes;
        }
      }
      Thread.onSpinWait();
    }
    return List.of();
  }

  private static PublishedPlane plane(long record) {
    byte[] source = Memory.toArray(record + RoutesLayout.PLANE_SOURCE, 16);
    boolean none = true;
    for (byte each : source) {
      none &= each == 0;
    }
    try {
      return new PublishedPlane(
          RoutesLayout.text(record, RoutesLayout.PLANE_KEY_BYTES),
          none ? null : InetAddress.getByAddress(source),
          Integer.toUnsignedLong(getInt(record + RoutesLayout.PLANE_RATE)),
          RoutesLayout.text(record + RoutesLayout.PLANE_VIA, RoutesLayout.PLANE_VIA_BYTES));
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("sixteen bytes are an IPv6 address", impossible);
    }
  }

  /**
   * Returns the file's sequence, with which {@link #awaitChange} compares. It changes with each
   * change of the file, and when the file is superseded.
   */
  public long sequence() {
    return reading(() -> Memory.getLongAcquire(map.base + RoutesLayout.SEQUENCE));
  }

  /**
   * Waits until the file's sequence differs from this value of {@link #sequence}, or until the
   * timeout has passed. The thread sleeps meanwhile.
   */
  public void awaitChange(long sequence, long timeoutNs) {
    if (sequence() == sequence) {
      MemoryCalls.futexWait(map.base + RoutesLayout.SEQUENCE, (int) sequence, timeoutNs);
    }
  }

  /**
   * Wakes every thread that waits for a change of this file, in any process, although nothing has
   * changed.
   */
  public void wakeAll() {
    MemoryCalls.futexWakeAll(map.base + RoutesLayout.SEQUENCE);
  }

  /**
   * Returns the daemon's state. Only one thread may call this. It must do so regularly, since
   * silence is measured from the call that saw the last new heartbeat.
   */
  public Liveness liveness() {
    return reading(this::readLiveness);
  }

  private Liveness readLiveness() {
    long now = clock.nanoTime();
    long heartbeat = Memory.getLongAcquire(map.base + RoutesLayout.HEARTBEAT);
    if (heartbeat != lastHeartbeat) {
      lastHeartbeat = heartbeat;
      lastHeartbeatSeenNs = now;
    }
    long silence = now - lastHeartbeatSeenNs;
    long periodNs = getInt(map.base + RoutesLayout.HEARTBEAT_PERIOD) * 1_000_000L;
    int state = Memory.getIntAcquire(map.base + RoutesLayout.STATE);
    Liveness.State seen =
        state == RoutesLayout.SUPERSEDED
            ? Liveness.State.SUPERSEDED
            : state == RoutesLayout.ENDED
                ? Liveness.State.ENDED
                : silence > Math.max(LEAST_SILENCE_NS, MISSED_HEARTBEATS * periodNs)
                    ? Liveness.State.SILENT
                    : Liveness.State.ALIVE;
    return new Liveness(seen, getInt(map.base + RoutesLayout.PROCESS), silence);
  }

  /** Returns the number of prefixes in the table. */
  public int entries() {
    return reading(() -> getInt(map.base + RoutesLayout.ENTRIES));
  }

  /** Returns the name of the publisher, for display. */
  public String publisher() {
    return reading(
        () -> RoutesLayout.text(map.base + RoutesLayout.PUBLISHER, RoutesLayout.PUBLISHER_BYTES));
  }

  public Path path() {
    return path;
  }

  /** Returns whether the path still refers to the file that this reader has open. */
  public boolean isCurrent() {
    return map.isFileAt(path);
  }

  @Override
  public void close() {
    map.close();
  }
}
