package io.heddle.perf;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of one message, from isend to the completion at both ends, over the soft device on loopback.
 * One thread is sender and receiver. For comparison, the same thread sends as many bytes through a
 * TCP connection. An operation is one message.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MessageBenchmark {
  @Param({"8", "65536", "1048576"})
  public int bytes;

  private HeddleLink heddle = HeddleLink.NONE;
  private TcpLink tcp = TcpLink.NONE;

  /** Connects the two links. */
  @Setup(Level.Trial)
  public void connect() throws IOException {
    heddle = HeddleLink.connect(bytes);
    tcp = TcpLink.connect(bytes);
  }

  /** Closes both links. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    heddle.close();
    tcp.close();
  }

  /** Sends a message over the soft device, on one plane. */
  @Benchmark
  public void heddle() {
    heddle.exchange();
  }

  /** Sends a message over a TCP connection on loopback. */
  @Benchmark
  public void tcp() throws IOException {
    tcp.exchange();
  }
}
