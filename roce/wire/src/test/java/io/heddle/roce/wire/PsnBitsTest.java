package io.heddle.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PsnBitsTest {
  @Test
  void slidingWindowBehavesLikeASet() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("PsnBitsTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    PsnBits bits = new PsnBits();
    Set<Long> model = new HashSet<>();
    long start = (1L << 24) - 500; /* the low 24 bits wrap during the test */
    for (int step = 0; step < 50_000; step++) {
      long psn = start + random.nextInt(PsnBits.SIZE);
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          bits.set(psn);
          model.add(psn);
        }
        case 2 -> {
          bits.clear(psn);
          model.remove(psn);
        }
        default -> {
          long to = start + random.nextInt(100);
          int expected = 0;
          for (long each = start; each < to; each++) {
            expected += model.remove(each) ? 1 : 0;
          }
          assertEquals(expected, bits.clearRange(start, to));
          start = to;
        }
      }
      assertEquals(model.contains(psn), psn >= start && bits.get(psn));
    }
  }

  @Test
  void maskCoversTheRangeWithinOneWord() {
    assertEquals(-1L, PsnBits.mask(64, 128));
    assertEquals(-1L, PsnBits.mask(64, 1000));
    assertEquals(0b1000L, PsnBits.mask(67, 68));
    assertEquals(0L, PsnBits.mask(67, 67));
    assertEquals(1L << 63, PsnBits.mask(127, 128));
  }
}
