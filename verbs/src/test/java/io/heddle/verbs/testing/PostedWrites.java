package io.heddle.verbs.testing;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * What adapters have written to memory behind a bus and what hasn't arrived there: in any order,
 * unless a read of the same memory pushes it. Under the fabric's monitor.
 */
final class PostedWrites {
  /* A write arrives in one of so many rounds. */
  private static final int SELDOM = 16;

  private record Write(LoopbackProvider.Region memory, long address, byte[] bytes) {
    void arrive() {
      for (int i = 0; i < bytes.length; i++) {
        Memory.ALL.set(ValueLayout.JAVA_BYTE, address + i, bytes[i]);
      }
    }
  }

  private final List<Write> underWay = new ArrayList<>();

  void add(LoopbackProvider.Region memory, long from, long to, int lengthBytes) {
    byte[] bytes = Memory.ALL.asSlice(from, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    underWay.add(new Write(memory, to, bytes));
  }

  /** A read of this memory arrives behind all of its writes. */
  void push(LoopbackProvider.Region memory) {
    underWay.stream().filter(write -> write.memory() == memory).forEach(Write::arrive);
    underWay.removeIf(write -> write.memory() == memory);
  }

  /** Lets one arrive, or none. */
  void progress(IntUnaryOperator below) {
    if (!underWay.isEmpty() && below.applyAsInt(SELDOM) == 0) {
      underWay.remove(below.applyAsInt(underWay.size())).arrive();
    }
  }
}
