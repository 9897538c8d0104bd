package io.heddle.perf;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.ReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jctools.queues.atomic.unpadded.MpscAtomicUnpaddedArrayQueue;
import org.jctools.queues.atomic.unpadded.MpscUnboundedAtomicUnpaddedArrayQueue;
import org.jctools.queues.atomic.unpadded.SpscAtomicUnpaddedArrayQueue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of handing an item to another thread and of taking it on that thread. An item is a task of
 * the control thread, an asynchronous event, a posted receive or a doorbell of a queue pair. Each
 * item goes through a queue of Heddle's or Java's, and through one of JCTools'. One thread is
 * producer and consumer, because moving a cache line between processors costs the same for all
 * queues. Items are handed over in groups of eight; an operation is one item.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HandOffBenchmark {
  private static final int AT_ONCE = 8;
  private static final int EVENTS = 1024;
  private static final int DEPTH = 512;
  private static final int PAIRS = 8192;

  /** Ring between one producer and one consumer; an entry has two numbers. */
  private static final class Ring {
    private static final VarHandle TAIL = index("tail");
    private static final VarHandle HEAD = index("head");
    private final int[] kinds = new int[EVENTS];
    private final int[] numbers = new int[EVENTS];

    @SuppressWarnings("unused") /* accessed by TAIL */
    private volatile long tail;

    @SuppressWarnings("unused") /* accessed by HEAD */
    private volatile long head;

    private static VarHandle index(String field) {
      try {
        return MethodHandles.lookup().findVarHandle(Ring.class, field, long.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    void add(int kind, int number) {
      long at = (long) TAIL.get(this);
      if (at - (long) HEAD.getAcquire(this) == EVENTS) {
        return;
      }
      kinds[(int) at & EVENTS - 1] = kind;
      numbers[(int) at & EVENTS - 1] = number;
      TAIL.setRelease(this, at + 1);
    }

    int poll() {
      int sum = 0;
      for (long at = (long) HEAD.get(this); at < (long) TAIL.getAcquire(this); at++) {
        sum += kinds[(int) at & EVENTS - 1] + numbers[(int) at & EVENTS - 1];
        HEAD.setRelease(this, at + 1);
      }
      return sum;
    }
  }

  private record Event(int kind, int number) {}

  private record Receive(long id, long address, int lengthBytes, int lkey) {}

  /** Set of queue pairs whose doorbells were rung, with one bit for each queue pair. */
  private static final class Bells {
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private final long[] words = new long[PAIRS / 64];

    void ring(int slot) {
      WORD.getAndBitwiseOr(words, slot >> 6, 1L << slot);
    }

    long take(int word) {
      return (long) WORD.getOpaque(words, word) == 0 ? 0 : (long) WORD.getAndSet(words, word, 0L);
    }
  }

  private final Runnable task = () -> {};
  private final Queue<Runnable> linked = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> chunked = new MpscUnboundedAtomicUnpaddedArrayQueue<>(64);
  private final Ring ring = new Ring();
  private final Queue<Event> events = new SpscAtomicUnpaddedArrayQueue<>(EVENTS);
  private final ReceiveQueue rows =
      new ReceiveQueue(
          DEPTH, Memory.allocate(Arena.ofAuto(), ReceiveQueue.bytes(DEPTH), Long.BYTES));
  private final Queue<Receive> receives = new SpscAtomicUnpaddedArrayQueue<>(DEPTH);
  private final Bells bells = new Bells();
  private final Queue<Object> rung = new MpscAtomicUnpaddedArrayQueue<>(PAIRS);

  private int run(Queue<Runnable> tasks) {
    for (int i = 0; i < AT_ONCE; i++) {
      tasks.add(task);
    }
    int ran = 0;
    for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
      next.run();
      ran++;
    }
    return ran;
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int tasksByLinkedQueue() {
    return run(linked);
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int tasksByJctools() {
    return run(chunked);
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int eventsByRing() {
    for (int i = 0; i < AT_ONCE; i++) {
      ring.add(1, i);
    }
    return ring.poll();
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int eventsByJctools() {
    for (int i = 0; i < AT_ONCE; i++) {
      events.offer(new Event(1, i));
    }
    int sum = 0;
    for (Event next = events.poll(); next != null; next = events.poll()) {
      sum += next.kind + next.number;
    }
    return sum;
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public long receivesByRows() {
    for (int i = 0; i < AT_ONCE; i++) {
      rows.post(i, 64, 4096, 7, 1);
    }
    long sum = 0;
    while (!rows.isEmpty()) {
      sum += rows.id() + rows.address() + rows.lengthBytes() + rows.lkey();
      rows.take();
    }
    return sum;
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public long receivesByJctools() {
    for (int i = 0; i < AT_ONCE; i++) {
      receives.offer(new Receive(i, 64, 4096, 7));
    }
    long sum = 0;
    for (Receive next = receives.poll(); next != null; next = receives.poll()) {
      sum += next.id + next.address + next.lengthBytes + next.lkey;
    }
    return sum;
  }

  /*
   * Rings and takes eight doorbells. All their bits are in one word, as in a job of eight
   * connections over four planes.
   */
  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int bellsByBits() {
    for (int i = 0; i < AT_ONCE; i++) {
      bells.ring(i * 4);
    }
    return Long.bitCount(bells.take(0));
  }

  @Benchmark
  @OperationsPerInvocation(AT_ONCE)
  public int bellsByJctools() {
    for (int i = 0; i < AT_ONCE; i++) {
      rung.offer(task);
    }
    int count = 0;
    for (@Nullable Object next = rung.poll(); next != null; next = rung.poll()) {
      count++;
    }
    return count;
  }
}
