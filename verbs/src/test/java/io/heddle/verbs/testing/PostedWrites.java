package io.heddle.verbs.testing;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Posted writes of adapters to memory behind a bus: they arrive in any order, unless a read of the
 * same memory pushes them. Under the fabric's monitor.
 */
final class PostedWrites {
  /* Average rounds until a write arrives. */
  private static final int ARRIVAL_ODDS = 16;

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

  /** Completes all writes to this memory, before a read of it. */
  void push(LoopbackProvider.Region memory) {
    underWay.stream().filter(write -> write.memory() == memory).forEach(Write::arrive);
    underWay.removeIf(write -> write.memory() == memory);
  }

  /** Completes one write, or none. */
  void progress(IntUnaryOperator below) {
    if (!underWay.isEmpty() && below.applyAsInt(ARRIVAL_ODDS) == 0) {
      underWay.remove(below.applyAsInt(underWay.size())).arrive();
    }
  }
}
