package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RandomBytesTest {
  @Test
  void twoDrawsDiffer() {
    assertNotEquals(Arrays.toString(RandomBytes.of(16)), Arrays.toString(RandomBytes.of(16)));
    assertNotEquals(RandomBytes.nextLong(), RandomBytes.nextLong());
    assertEquals(0, RandomBytes.of(0).length);
    assertEquals(256, RandomBytes.of(256).length);
  }

  @Test
  void everyRequestedBitVariesAndNoOtherIsSet() {
    for (int bits : new int[] {0, 1, 6, 24, 31}) {
      int seen = 0;
      for (int i = 0; i < 200; i++) {
        seen |= RandomBytes.nextBits(bits);
      }
      assertEquals((1L << bits) - 1, seen, bits + " bits");
    }
  }

  @Test
  void rejectsMoreThanOneCallReturns() {
    assertThrows(IllegalArgumentException.class, () -> RandomBytes.of(257));
    assertThrows(IllegalArgumentException.class, () -> RandomBytes.nextBits(32));
    assertThrows(IllegalArgumentException.class, () -> RandomBytes.nextBits(-1));
  }
}
