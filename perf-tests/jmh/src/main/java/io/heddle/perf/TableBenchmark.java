package io.heddle.perf;

import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.RegionTable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.Object2IntHashMap;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of look-ups in tables: the host's objects by number, registered memory by key, epoll's
 * events by descriptor, sets of attributes by value. Each look-up is made in a table of Heddle's or
 * Java's, and in one of Agrona's. An operation is one look-up, or one addition with its removal.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class TableBenchmark {
  /**
   * Table of objects by number. A number has the entry's generation in its upper bits, and the slot
   * plus one in its lower bits.
   */
  private static final class Slots {
    private record Entry(long id, Object object) {}

    private static final int PLACE_BITS = 24;
    private volatile @Nullable Entry[] entries = new Entry[16];
    private long generation = 1;

    long add(Object object) {
      int place = 0;
      while (place < entries.length && entries[place] != null) {
        place++;
      }
      @Nullable Entry[] next =
          Arrays.copyOf(entries, place < entries.length ? entries.length : place * 2);
      long id = generation++ << PLACE_BITS | place + 1;
      next[place] = new Entry(id, object);
      entries = next;
      return id;
    }

    @Nullable Object get(long id) {
      @Nullable Entry[] now = entries;
      int place = (int) (id & (1 << PLACE_BITS) - 1) - 1;
      if (place < 0 || place >= now.length) {
        return null;
      }
      Entry entry = now[place];
      return entry != null && entry.id == id ? entry.object : null;
    }

    void remove(long id) {
      @Nullable Entry[] next = entries.clone();
      next[(int) (id & (1 << PLACE_BITS) - 1) - 1] = null;
      entries = next;
    }
  }

  private record Region(long address, long lengthBytes, int domain, int rights) {
    boolean allows(int askingDomain, int neededRights, long from, long bytes) {
      long offset = from - address;
      return domain == askingDomain
          && (rights & neededRights) == neededRights
          && bytes >= 0
          && offset >= 0
          && offset <= lengthBytes
          && bytes <= lengthBytes - offset;
    }
  }

  private static final int DOMAIN = 1;
  private static final int LENGTH_BYTES = 1 << 20;
  private static final int ASKED_BYTES = 4096;
  private static final int ORDER = 4096;

  @Param({"8", "1024"})
  public int objects;

  private final Slots slots = new Slots();
  private volatile Long2ObjectHashMap<Object> map = new Long2ObjectHashMap<>();
  private final RegionTable regionTable = new RegionTable(1);
  private final MemoryRights rights = new MemoryRights(regionTable, DOMAIN);
  private final Int2ObjectHashMap<Region> regionMap = new Int2ObjectHashMap<>();
  private final Map<Integer, Object> boxed = new HashMap<>();
  private final Int2ObjectHashMap<Object> unboxed = new Int2ObjectHashMap<>();
  private final Map<String, Integer> boxedValues = new HashMap<>();
  private final Object2IntHashMap<String> unboxedValues = new Object2IntHashMap<>(-1);
  private long[] slotIds = {};
  private int[] keys = {};
  private String[] names = {};
  private int[] order = {};
  private long nextId = 1;
  private int at;

  /**
   * Fills each table with the same number of objects, and draws one random order in which all
   * tables are read.
   */
  @Setup
  public void setUp() {
    slotIds = new long[objects];
    keys = new int[objects];
    names = new String[objects];
    Random hashes = new Random(2);
    for (int i = 0; i < objects; i++) {
      Object object = new Object();
      slotIds[i] = slots.add(object);
      Long2ObjectHashMap<Object> next = new Long2ObjectHashMap<>(map);
      next.put(nextId++, object);
      map = next;
      long address = (long) LENGTH_BYTES * i;
      keys[i] = regionTable.add(address, LENGTH_BYTES, DOMAIN, RegionTable.REMOTE_WRITE);
      regionMap.put(keys[i], new Region(address, LENGTH_BYTES, DOMAIN, RegionTable.REMOTE_WRITE));
      boxed.put(128 + i, object);
      unboxed.put(128 + i, object);
      names[i] = Long.toHexString(hashes.nextLong());
      boxedValues.put(names[i], i);
      unboxedValues.put(names[i], i);
    }
    order = new Random(1).ints(ORDER, 0, objects).toArray();
  }

  private int next() {
    at = at + 1 & ORDER - 1;
    return order[at];
  }

  @Benchmark
  public @Nullable Object idsBySlot() {
    return slots.get(slotIds[next()]);
  }

  @Benchmark
  public @Nullable Object idsByAgrona() {
    return map.get(1L + next());
  }

  @Benchmark
  public long idChangesBySlot() {
    long id = slots.add(this);
    slots.remove(id);
    return id;
  }

  @Benchmark
  public long idChangesByAgrona() {
    Long2ObjectHashMap<Object> more = new Long2ObjectHashMap<>(map);
    long id = nextId++;
    more.put(id, this);
    map = more;
    Long2ObjectHashMap<Object> less = new Long2ObjectHashMap<>(map);
    less.remove(id);
    map = less;
    return id;
  }

  @Benchmark
  public boolean regionsByRow() {
    int region = next();
    return rights.remoteWrite(keys[region], (long) LENGTH_BYTES * region + 64, ASKED_BYTES);
  }

  @Benchmark
  public boolean regionsByAgrona() {
    int region = next();
    Region found = regionMap.get(keys[region]);
    return found != null
        && found.allows(
            DOMAIN, RegionTable.REMOTE_WRITE, (long) LENGTH_BYTES * region + 64, ASKED_BYTES);
  }

  @Benchmark
  public @Nullable Object descriptorsByHashMap() {
    return boxed.get(128 + next());
  }

  @Benchmark
  public @Nullable Object descriptorsByAgrona() {
    return unboxed.get(128 + next());
  }

  @Benchmark
  public int attributesByHashMap() {
    return boxedValues.getOrDefault(names[next()], -1);
  }

  @Benchmark
  public int attributesByAgrona() {
    return unboxedValues.getValue(names[next()]);
  }
}
