package io.heddle.perf;

import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of cutting a message of 4 MiB and of choosing a plane for each chunk. The baseline is the
 * policy {@code hash}, which observes nothing. An operation is one message.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SprayBenchmark {
  private static final int MESSAGES = 64;
  private static final long MESSAGE_BYTES = 4L << 20;
  private static final int CHUNK_BYTES = 61_440;
  private static final long TOOK_NS = 500_000;
  private static final long WINDOW_BYTES = 16L << 20;

  @Param({"spray", "pinned", "least-in-flight", "spraylink", "hash"})
  public String policy = "";

  @Param({"1", "4", "8"})
  public int planes;

  private SprayPolicy chosen = SprayPolicy.named("spray", 0);
  private PlaneLoads loads = new PlaneLoads(1, CHUNK_BYTES, WINDOW_BYTES, 256);
  private PlaneWeights weights = PlaneWeights.equal(1);
  private final int[] planeOf = new int[SprayPolicy.MAX_CHUNKS];
  private final int[] lengthOf = new int[SprayPolicy.MAX_CHUNKS];
  private int finished;
  private long message;
  private long nowNs;

  /** Sets the weights: 4 for the first plane, 2 for the second, 1 for all others. */
  @Setup
  public void setUp() {
    chosen = SprayPolicy.named(policy, 0x9e3779b97f4a7c15L);
    loads = new PlaneLoads(planes, CHUNK_BYTES, WINDOW_BYTES, 256);
    List<String> keys = new ArrayList<>();
    List<String> asked = new ArrayList<>();
    for (int i = 0; i < planes; i++) {
      keys.add("plane:" + i);
      asked.add(Integer.toString(Math.max(1, 4 >> i)));
    }
    weights = PlaneWeights.parse(String.join(",", asked), keys);
  }

  /**
   * Measures the choice of planes. All chunks of a message finish together, so that every plane has
   * room for the next message.
   */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public long planMessages() {
    long sum = 0;
    for (int i = 0; i < MESSAGES; i++) {
      int chunks = chosen.chunks(MESSAGE_BYTES, loads, weights);
      nowNs += TOOK_NS;
      loads.setTime(nowNs);
      for (int chunk = 0; chunk < chunks; chunk++) {
        long start = chosen.chunkStart(MESSAGE_BYTES, chunk, chunks, loads, weights);
        long end = chosen.chunkStart(MESSAGE_BYTES, chunk + 1, chunks, loads, weights);
        int length = (int) (end - start);
        int plane = chosen.choose(message, chunk, chunks, length, loads, weights);
        if (plane == SprayPolicy.NO_PLANE) {
          /*
           * No plane has room. This happens only at first, before the policy has any measurement of
           * the planes.
           */
          finish(chunk);
          plane = chosen.choose(message, chunk, chunks, length, loads, weights);
        }
        loads.started(plane, length, weights);
        planeOf[chunk] = plane;
        lengthOf[chunk] = length;
        sum += plane;
      }
      finish(chunks);
      finished = 0;
      message++;
    }
    return sum;
  }

  /* Finishes all chunks with indexes below `end`, at the same time. */
  private void finish(int end) {
    nowNs += TOOK_NS;
    loads.setTime(nowNs);
    for (; finished < end; finished++) {
      loads.finished(planeOf[finished], lengthOf[finished]);
    }
    loads.onPolled();
  }
}
