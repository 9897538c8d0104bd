package io.heddle.transport.data;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * jcstress tests, one for each hand-off of a request line or of the baton; {@link HandOffTest} runs
 * them. The shim's side uses the same acquire and release as its C code.
 */
final class HandOffStress {
  private static final int DONE = 1;
  private static final int RELEASED = 2;
  private static final int COUNT = 4;
  private static final int SIZES = 8;

  private HandOffStress() {}

  /**
   * Arena that hands out the lines of one block of native memory in rotation. It has far more lines
   * than jcstress has test states at a time.
   */
  private static final class Slab implements Arena {
    private static final int LINES = 1 << 18;
    private static final MemorySegment MEMORY =
        Arena.global().allocate((long) LINES * RequestLines.BYTES, 64);
    private static final AtomicInteger NEXT = new AtomicInteger();

    @Override
    public MemorySegment allocate(long lengthBytes, long alignmentBytes) {
      long line = NEXT.getAndIncrement() & LINES - 1;
      return MEMORY.asSlice(line * RequestLines.BYTES, lengthBytes).fill((byte) 0);
    }

    @Override
    public MemorySegment.Scope scope() {
      return MEMORY.scope();
    }

    @Override
    public void close() {
      throw new UnsupportedOperationException("the slab lives as long as the process");
    }
  }

  private static RequestLines oneLine() {
    return new RequestLines(
        Memory.allocate(new Slab(), RequestLines.BYTES, RequestLines.BYTES), 1, 0);
  }

  private static int read(long address, int offset) {
    return Memory.ALL.get(ValueLayout.JAVA_INT, address + offset);
  }

  /** Java → shim: a finished request has its count and its size. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 0, 0", "1, 1, 77"},
      expect = Expect.ACCEPTABLE,
      desc = "pending, or done and whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "done before its sizes")
  public static class DoneWithSizes {
    private final RequestLines lines = oneLine();
    private final int line = lines.claim();

    @Actor
    public void java() {
      lines.setSize(line, 0, 77);
      lines.complete(line, 1);
    }

    @Actor
    public void shim(III_Result result) {
      long address = lines.address(line);
      result.r1 = Memory.getIntAcquire(address);
      if (result.r1 == DONE) {
        result.r2 = read(address, COUNT);
        result.r3 = read(address, SIZES);
      }
    }
  }

  /** Shim → Java: a request line is not reused while the shim still reads its result. */
  @JCStressTest
  @State
  @Outcome(
      id = {"77, -1", "77, 0"},
      expect = Expect.ACCEPTABLE,
      desc = "read, then used again or not yet")
  @Outcome(expect = Expect.FORBIDDEN, desc = "used again while it was read")
  public static class ReleasedThenClaimed {
    private final RequestLines lines = oneLine();
    private final int line = lines.claim();

    public ReleasedThenClaimed() {
      lines.setSize(line, 0, 77);
      lines.complete(line, 1);
    }

    @Actor
    public void shim(II_Result result) {
      long address = lines.address(line);
      result.r1 = read(address, SIZES);
      Memory.setIntRelease(address, RELEASED);
    }

    @Actor
    public void java(II_Result result) {
      result.r2 = lines.claim();
      if (result.r2 >= 0) {
        lines.setSize(result.r2, 0, 5);
      }
    }
  }

  /**
   * NCCL's thread ↔ control thread: only one of them has the baton at a time, and it sees the
   * changes that the other made while it had the baton.
   */
  @JCStressTest
  @State
  @Outcome(
      id = {"1, 2", "0, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "both had it, or NCCL's thread will call again")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both had it at a time, or one didn't see the other")
  public static class OneHasTheBaton {
    private final Baton baton = new Baton();
    private int counted;

    @Actor
    public void nccl(II_Result result) {
      if (baton.tryTake()) {
        counted++;
        baton.release();
        result.r1 = 1;
      }
    }

    @Actor
    public void control() {
      baton.take();
      counted++;
      baton.release();
    }

    @Arbiter
    public void end(II_Result result) {
      result.r2 = counted;
    }
  }
}
