package io.heddle.verbs.testing;

import io.heddle.platform.Memory;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Posted writes of adapters to memory behind a bus. They arrive later and in any order, but before
 * a read of the same memory. Callers hold the fabric's monitor.
 */
final class PostedWrites {
  /* Average number of rounds until some write arrives. */
  private static final int ARRIVAL_ODDS = 16;

  private record Write(LoopbackProvider.Region memory, long address, byte[] bytes) {
    void arrive() {
      for (int i = 0; i < bytes.length; i++) {
        Memory.ALL.set(ValueLayout.JAVA_BYTE, address + i, bytes[i]);
      }
    }
  }

  private final List<Write> pending = new ArrayList<>();

  void add(LoopbackProvider.Region memory, long from, long to, int lengthBytes) {
    byte[] bytes = Memory.ALL.asSlice(from, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    pending.add(new Write(memory, to, bytes));
  }

  /** Completes all writes to this memory, before a read of it. */
  void push(LoopbackProvider.Region memory) {
    pending.stream().filter(write -> write.memory() == memory).forEach(Write::arrive);
    pending.removeIf(write -> write.memory() == memory);
  }

  /** Completes one write, or none, at random. */
  void progress(IntUnaryOperator below) {
    if (!pending.isEmpty() && below.applyAsInt(ARRIVAL_ODDS) == 0) {
      pending.remove(below.applyAsInt(pending.size())).arrive();
    }
  }
}
