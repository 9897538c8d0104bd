package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryTest {
  private static final int ROOM = 2048;

  @Test
  void copyByLinesCopiesAtAnyOffset() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      byte[] from = new byte[ROOM];
      byte[] expected = new byte[ROOM];
      MemorySegment source = arena.allocate(ROOM, 128);
      MemorySegment target = arena.allocate(ROOM, 128);
      for (int round = 0; round < 3000; round++) {
        random.nextBytes(from);
        random.nextBytes(expected);
        MemorySegment.copy(MemorySegment.ofArray(from), 0, source, 0, ROOM);
        MemorySegment.copy(MemorySegment.ofArray(expected), 0, target, 0, ROOM);
        int bytes = random.nextInt(ROOM / 2);
        int at = random.nextInt(ROOM / 2);
        int to = random.nextInt(ROOM / 2);
        System.arraycopy(from, at, expected, to, bytes);
        Memory.copyByLines(source.address() + at, target.address() + to, bytes);
        assertArrayEquals(
            expected,
            Memory.toArray(target.address(), ROOM),
            () -> "seed " + seed + ": " + bytes + " bytes, from " + at + " to " + to);
      }
    }
  }
}
