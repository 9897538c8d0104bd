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
 * The reading end of a routes file. It takes no lock and never waits for the daemon for longer than
 * a change takes: a daemon that dies in the middle of one leaves an answer out, not a torn one.
 *
 * <p>{@link #resolve} may be called by several threads, each with an answer of its own; {@link
 * #close} only when no other call is under way.
 *
 * <p>A file that another process cuts short takes memory from under its readers. Every call here
 * ends with a {@link RoutesCutException} then, and never with anything else: the file's size is
 * looked at before and after reading, and a fault in between is caught. A look-up alone doesn't
 * afford that; its answers are to be believed within {@link #reading}.
 */
public final class RouteReader implements AutoCloseable {
  private static final long GIVE_UP_NS = 2_000_000;
  private static final int TRIES_PER_LOOK_AT_CLOCK = 64;

  /* How many heartbeats may be missed, and the least time, since a busy machine lets a daemon wait. */
  private static final int MISSED_HEARTBEATS = 5;
  private static final long LEAST_SILENCE_NS = 1_000_000_000;

  private final Path path;
  private final RoutesMap map;
  private final NanoClock clock;

  /* The last heartbeat that was seen to be new, and when, by this process's own clock: the daemon's may have another
  origin, in a time namespace. */
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
    /* An age that can't be is another clock's: the daemon gets the benefit of the doubt. */
    lastHeartbeatSeenNs = age >= 0 ? heartbeat : now;
  }

  private long heartbeat() {
    return reading(() -> Memory.getLongAcquire(map.base + RoutesLayout.HEARTBEAT));
  }

  /**
   * @return null where there is no file, which is what a host without a daemon has
   * @throws HeddleException for a file that isn't one of routes, or can't be read
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
    } catch (RoutesCutException cut) {
      reader.close();
      throw cut;
    }
  }

  /** How the daemon calls the planes of this host's addresses. */
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
   * Reads, and answers only where the file was whole before and after.
   *
   * @throws RoutesCutException where it isn't
   */
  public <T> T reading(Supplier<T> reads) {
    map.requireWhole();
    try {
      T result = reads.get();
      /* In here: the Java machine tells of a fault at the next return of a call, which this is at the latest. */
      map.requireWhole();
      return result;
    } catch (InternalError fault) {
      throw map.cut(fault);
    }
  }

  /**
   * Finds the longest match for a destination, plane by plane. To be believed within {@link
   * #reading}.
   *
   * @param high the address's first 64 bits
   * @param answer where the result goes; valid when this returns true
   * @return false when no whole state could be read within 2 ms: the daemon is in the middle of a
   *     change, or died there
   */
  public boolean resolve(long high, long low, RouteAnswer answer) {
    try {
      return find(high, low, answer);
    } catch (InternalError fault) {
      throw map.cut(fault);
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
        Thread.yield(); // the daemon may wait for this very core
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
    /* Within the bounds that weight() counts on, whatever the file says. */
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

  /* Gives the planes that are undecided yet what the prefix of this length says; returns how many that decides. */
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

  /** The planes, in order of their numbers; empty where no whole state could be read. */
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

  /** The word that {@link #awaitChange} compares; also changes when the file is superseded. */
  public long sequence() {
    return reading(() -> Memory.getLongAcquire(map.base + RoutesLayout.SEQUENCE));
  }

  /**
   * Waits until the file is in another state than when {@link #sequence} gave this value, at most
   * for a time. Costs nothing while nothing changes.
   */
  public void awaitChange(long sequence, long timeoutNs) {
    if (sequence() == sequence) {
      MemoryCalls.futexWait(map.base + RoutesLayout.SEQUENCE, (int) sequence, timeoutNs);
    }
  }

  /** Ends the wait of every process that waits for this file, for nothing. */
  public void wakeAll() {
    MemoryCalls.futexWakeAll(map.base + RoutesLayout.SEQUENCE);
  }

  /** Whether the daemon lives. One thread; to be asked at least as often as the answer matters. */
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

  /** Prefixes in the table. */
  public int entries() {
    return reading(() -> getInt(map.base + RoutesLayout.ENTRIES));
  }

  /** Who publishes, for people. */
  public String publisher() {
    return reading(
        () -> RoutesLayout.text(map.base + RoutesLayout.PUBLISHER, RoutesLayout.PUBLISHER_BYTES));
  }

  public Path path() {
    return path;
  }

  /** Whether the file under this reader's name is still the one that it reads. */
  public boolean isCurrent() {
    return map.hasName(path);
  }

  @Override
  public void close() {
    map.close();
  }
}
