package io.heddle.perf;

import io.heddle.platform.NanoClock;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of reading the time by the clock that is injected into the data path. As in the plugin, the
 * clock's interface has a second implementation, which the control thread uses. For comparison,
 * another benchmark makes the bare system call.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ClockBenchmark {
  private final NanoClock clock = NanoClock.SYSTEM;
  private final NanoClock second = new Shifted();

  /** Second implementation of the clock, in place of the control thread's. */
  private static final class Shifted implements NanoClock {
    private long awayNs;

    @Override
    public long nanoTime() {
      return NanoClock.SYSTEM.nanoTime() - awayNs;
    }
  }

  @Benchmark
  public long systemCall() {
    return System.nanoTime();
  }

  @Benchmark
  public long injectedClock() {
    return clock.nanoTime();
  }

  @Benchmark
  public long bothClocks() {
    return clock.nanoTime() - second.nanoTime();
  }
}
