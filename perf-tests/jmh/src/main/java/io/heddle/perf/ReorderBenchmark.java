package io.heddle.perf;

import io.heddle.reorder.ReorderWindow;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
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
 * Cost of recording one chunk's arrival and of releasing full messages in order: 16 messages of 64
 * chunks in flight. An operation is one chunk.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ReorderBenchmark {
  private static final int MESSAGES = 16;
  private static final int CHUNKS = ReorderWindow.MAX_CHUNKS;
  private static final int CHUNK_BYTES = 61_440;
  private static final int SLOTS = 256;

  /** The order in which chunks arrive. */
  @Param({"in-order", "planes", "shuffled"})
  public String arrival = "";

  private final ReorderWindow window = new ReorderWindow(SLOTS);
  private final Map<Long, BitSet> arrived = new HashMap<>();
  private final ArrayDeque<Long> open = new ArrayDeque<>();
  private final int[] order = new int[MESSAGES * CHUNKS];
  private final int[] generations = new int[MESSAGES];
  private final int[] slots = new int[MESSAGES];
  private long nextMessage;

  /**
   * Sets the order of arrival: as sent, or over four planes of which one lags by 64 chunks, or
   * shuffled.
   */
  @Setup
  public void orderArrivals() {
    for (int i = 0; i < order.length; i++) {
      order[i] = i;
    }
    switch (arrival) {
      case "in-order" -> {}
      case "planes" -> lagFourthPlane();
      case "shuffled" -> shuffle();
      default -> throw new IllegalArgumentException(arrival);
    }
  }

  private void lagFourthPlane() {
    int at = 0;
    for (int i = 0; i < order.length + CHUNKS; i++) {
      if (i < order.length && i % 4 != 3) {
        order[at++] = i;
      }
      if (i >= CHUNKS && (i - CHUNKS) % 4 == 3) {
        order[at++] = i - CHUNKS;
      }
    }
  }

  private void shuffle() {
    Random random = new Random(7);
    for (int i = order.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int swapped = order[i];
      order[i] = order[other];
      order[other] = swapped;
    }
  }

  /** Measures the window that the transport uses. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES * CHUNKS)
  public long reorderWindow() {
    for (int i = 0; i < MESSAGES; i++) {
      slots[i] = window.open(1);
      generations[i] = window.generation(slots[i]);
    }
    for (int each : order) {
      int message = each / CHUNKS;
      window.record(slots[message], generations[message], 0, each % CHUNKS, CHUNKS, CHUNK_BYTES);
      while (window.oldestGroup() != window.nextGroup() && window.isFull(window.oldestGroup())) {
        window.releaseOldest();
      }
    }
    return window.oldestGroup();
  }

  /** Measures the JDK's bit sets instead, with one for each open message. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES * CHUNKS)
  public long bitSets() {
    long first = nextMessage;
    for (int i = 0; i < MESSAGES; i++) {
      arrived.put(nextMessage, new BitSet(CHUNKS));
      open.add(nextMessage++);
    }
    for (int each : order) {
      BitSet bits = arrived.get(first + each / CHUNKS);
      if (bits != null) {
        bits.set(each % CHUNKS);
      }
      while (!open.isEmpty() && isFull(open.getFirst())) {
        arrived.remove(open.removeFirst());
      }
    }
    return nextMessage;
  }

  private boolean isFull(long message) {
    BitSet bits = arrived.get(message);
    return bits != null && bits.cardinality() == CHUNKS;
  }
}
