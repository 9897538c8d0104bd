package io.heddle.perf;

import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.RouteReader;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of the longest-prefix match for each plane among 400,000 host routes and a covering route,
 * for random hosts. One benchmark uses the routes file, as plugin processes read it. Another uses a
 * HashMap, which no other process could read. An operation is one destination on all four planes.
 * The third benchmark is a lower bound: one dependent read at a random place in memory of the
 * file's size.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RouteLookupBenchmark {
  private static final int HOSTS = 400_000;
  private static final int PLANES = 4;
  private static final int HOST_BITS = 128;
  private static final int AGGREGATE_BITS = 16;
  private static final long AGGREGATE = 0xfd00_0000_0000_0000L;
  private static final int ASKED = 1 << 16;
  private static final long FILE_BYTES = 40L * (1 << 19); // 2^19 slots of 40 bytes
  private static final int PAGE_BYTES = 4096;

  private record Prefix(long high, long low, int length) {}

  private final Map<Prefix, int[]> map = new HashMap<>();
  private final RouteAnswer answer = new RouteAnswer();
  private final MemorySegment bytes = Arena.ofAuto().allocate(FILE_BYTES, PAGE_BYTES);
  private final int[] hosts = new SplittableRandom(3).ints(ASKED, 0, HOSTS).toArray();
  private @Nullable Path folder;
  private @Nullable RoutePublisher publisher;
  private @Nullable RouteReader reader;
  private int next;
  private long zero;

  private static long high(int host) {
    return 0xfd00_0009_0000_0000L | host;
  }

  private static int cell(int value) {
    return RouteCell.of(WeightReason.PATH_BANDWIDTH, 1 + value);
  }

  @Setup
  public void setUp() throws IOException {
    bytes.fill((byte) 0); // gives each page its own memory
    Path made = Files.createTempDirectory("heddle-routes");
    folder = made;
    RoutePublisher to =
        RoutePublisher.create(
            made.resolve("routes"), "benchmark", WeightRules.DEFAULT, 1_000, NanoClock.SYSTEM);
    publisher = to;
    for (int plane = 0; plane < PLANES; plane++) {
      to.setPlane(new PublishedPlane("plane:" + plane, null, 0, ""));
    }
    to.begin();
    put(to, AGGREGATE, 0, AGGREGATE_BITS, 0);
    for (int host = 0; host < HOSTS; host++) {
      put(to, high(host), 1, HOST_BITS, host);
    }
    to.commit();
    to.goLive();
    reader = RouteReader.open(made.resolve("routes"), NanoClock.SYSTEM);
  }

  private void put(RoutePublisher to, long high, long low, int length, int value) {
    int[] cells = new int[PLANES];
    for (int plane = 0; plane < PLANES; plane++) {
      cells[plane] = cell(value + plane);
      to.set(high, low, length, plane, cells[plane]);
    }
    map.put(new Prefix(high, low, length), cells);
  }

  private int nextHost() {
    return hosts[next++ & ASKED - 1];
  }

  @Benchmark
  public int routesFile() {
    RouteReader from = reader;
    if (from == null || !from.resolve(high(nextHost()), 1, answer)) {
      throw new IllegalStateException("no whole state");
    }
    return answer.weight(0) + answer.weight(PLANES - 1);
  }

  @Benchmark
  public int hashMap() {
    long high = high(nextHost());
    int[] cells = map.get(new Prefix(high, 1, HOST_BITS));
    if (cells == null) {
      cells = map.get(new Prefix(high & -1L << Long.SIZE - AGGREGATE_BITS, 0, AGGREGATE_BITS));
    }
    return cells == null ? 0 : RouteCell.weight(cells[0]) + RouteCell.weight(cells[PLANES - 1]);
  }

  /*
   * Reads random memory. Each value is part of the next address, so that the processor can't
   * overlap the reads.
   */
  @Benchmark
  public long memory() {
    long at = (nextHost() * 0x9e3779b97f4a7c15L >>> 1) % (FILE_BYTES / Long.BYTES) + zero;
    zero = bytes.getAtIndex(ValueLayout.JAVA_LONG, at);
    return zero;
  }

  @TearDown
  public void tearDown() throws IOException {
    if (reader != null) {
      reader.close();
    }
    if (publisher != null) {
      publisher.close();
    }
    Path made = folder;
    if (made != null) {
      Files.deleteIfExists(made.resolve("routes"));
      Files.deleteIfExists(made.resolve("routes.lock"));
      Files.deleteIfExists(made);
    }
  }
}
