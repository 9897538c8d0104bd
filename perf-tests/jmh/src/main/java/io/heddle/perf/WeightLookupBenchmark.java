package io.heddle.perf;

import io.heddle.spray.PlaneWeights;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of looking up a plane's weight, as the data path does before each message and before each
 * series of chunks. The weights are in an immutable snapshot behind a volatile reference that
 * another thread swaps. For comparison, another benchmark uses a concurrent map by plane. An
 * operation is one plane's weight.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WeightLookupBenchmark {
  private static final int PLANES = 8;

  private final ConcurrentMap<Integer, Integer> map = new ConcurrentHashMap<>();
  private volatile PlaneWeights newest = PlaneWeights.equal(PLANES);
  private PlaneWeights kept = newest;
  private int plane;
  private int changes;

  /** Sets the planes' weights to 1, 2, 3 and so on. */
  @Setup
  public void setUp() {
    int[] figures = new int[PLANES];
    for (int i = 0; i < PLANES; i++) {
      figures[i] = i + 1;
      map.put(i, i + 1);
    }
    newest = PlaneWeights.ofRoutes(figures, "routes");
  }

  private int nextPlane() {
    plane = plane + 1 & PLANES - 1;
    return plane;
  }

  @Benchmark
  public int snapshot() {
    PlaneWeights now = newest;
    if (now != kept) {
      kept = now;
      changes++;
    }
    int next = nextPlane();
    return now.isOutOfUse(next) ? changes : now.weight(next);
  }

  @Benchmark
  public int concurrentMap() {
    Integer weight = map.get(nextPlane());
    return weight == null ? 0 : weight;
  }
}
