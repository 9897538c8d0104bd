package io.heddle.routes;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * jcstress tests of the hand-off from the publisher to readers; {@link SequenceLockTest} runs them.
 */
final class SequenceLockStress {
  private static final int NOTHING = -1;
  private static final int FIRST = 8;

  /* Offset of a word in another cache line. */
  private static final int SECOND = 128;
  private static final int BYTES = 256;
  private static final int BLOCKS = 1 << 16;
  private static final MemorySegment MEMORY = Arena.global().allocate((long) BLOCKS * BYTES, 256);
  private static final AtomicInteger NEXT = new AtomicInteger();

  private SequenceLockStress() {}

  private static long block() {
    long offset = (NEXT.getAndIncrement() & BLOCKS - 1) * (long) BYTES;
    return MEMORY.asSlice(offset, BYTES).fill((byte) 0).address();
  }

  private static void change(long address, int value) {
    SequenceLock.beginWrite(address);
    RoutesLayout.setInt(address + FIRST, value);
    RoutesLayout.setInt(address + SECOND, value);
    SequenceLock.endWrite(address);
  }

  private static void read(long address, II_Result result) {
    long sequence = SequenceLock.beginRead(address);
    int second = RoutesLayout.getInt(address + SECOND);
    int first = RoutesLayout.getInt(address + FIRST);
    boolean whole =
        !SequenceLock.isBeingChanged(sequence) && SequenceLock.isUnchanged(address, sequence);
    result.r1 = whole ? first : NOTHING;
    result.r2 = whole ? second : NOTHING;
  }

  /** Test of one change: a reader sees nothing, or one of the two whole states. */
  @JCStressTest
  @State
  @Outcome(
      id = {"-1, -1", "0, 0", "1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "nothing, the state before, or the state after")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn state")
  public static class OneChange {
    private final long address = block();

    @Actor
    public void daemon() {
      change(address, 1);
    }

    @Actor
    public void plugin(II_Result result) {
      read(address, result);
    }
  }

  /** Test of two changes in a row: a reader sees nothing, or one of the three whole states. */
  @JCStressTest
  @State
  @Outcome(
      id = {"-1, -1", "0, 0", "1, 1", "2, 2"},
      expect = Expect.ACCEPTABLE,
      desc = "nothing, or one of the three states")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn state")
  public static class TwoChanges {
    private final long address = block();

    @Actor
    public void daemon() {
      change(address, 1);
      change(address, 2);
    }

    @Actor
    public void plugin(II_Result result) {
      read(address, result);
    }
  }

  /**
   * Test that a reader of the new sequence sees the new state. The wake-up of readers relies on
   * this.
   */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, -1", "2, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "not yet, or the new state")
  @Outcome(id = "1, -1", expect = Expect.ACCEPTABLE, desc = "in the middle")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the new number with the old state")
  public static class NumberThenState {
    private final long address = block();

    @Actor
    public void daemon() {
      change(address, 1);
    }

    @Actor
    public void plugin(II_Result result) {
      result.r1 = (int) Memory.getLongAcquire(address);
      result.r2 = result.r1 == 2 ? RoutesLayout.getInt(address + SECOND) : NOTHING;
    }
  }
}
