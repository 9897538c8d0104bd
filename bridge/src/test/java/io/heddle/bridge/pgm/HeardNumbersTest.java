package io.heddle.bridge.pgm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.pgm.HeardNumbers.Heard;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which numbers are missing, late or come again, wherever a session's numbers begin. */
class HeardNumbersTest {
  private final Arena arena = Arena.ofConfined();
  private final HeardNumbers numbers =
      new HeardNumbers(Memory.allocate(arena, HeardNumbers.BYTES, 8));

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, Integer.MAX_VALUE - 100, -100, -40_000, 12_345})
  void nothingIsMissingWhereEveryNumberComes(int first) {
    assertEquals(Heard.FIRST, numbers.hear(first));
    for (int i = 1; i < 3 * HeardNumbers.WINDOW; i++) {
      assertEquals(Heard.AHEAD, numbers.hear(first + i));
      assertEquals(0, numbers.skipped(), "at " + i);
    }
    assertEquals(first + 3 * HeardNumbers.WINDOW - 1, numbers.lead());
  }

  @Test
  void whatIsLeftOutAcrossTheLastNumberIsCountedAndComesLateOrByARepeat() {
    numbers.hear(-3);
    assertEquals(Heard.AHEAD, numbers.hear(2));
    assertEquals(4, numbers.skipped(), "-2, -1, 0 and 1");
    assertEquals(Heard.MISSED, numbers.hear(-1));
    assertEquals(Heard.AGAIN, numbers.hear(-1));
    assertEquals(Heard.MISSED, numbers.hearRepeat(0));
    assertEquals(Heard.AGAIN, numbers.hearRepeat(2));
    assertEquals(Heard.MISSED, numbers.hearRepeat(1));
    assertEquals(0, numbers.skipped());
  }

  @Test
  void aRepeatAheadSaysThatItsOriginalIsMissing() {
    assertEquals(Heard.AGAIN, numbers.hearRepeat(5), "nothing is known to be missing yet");
    numbers.hear(10);
    assertEquals(Heard.MISSED, numbers.hearRepeat(12));
    assertEquals(2, numbers.skipped());
    assertEquals(Heard.MISSED, numbers.hear(11));
  }

  @Test
  void theSourcesOwnWordOfItsLeadFindsALostEnd() {
    numbers.hearLead(-2);
    assertEquals(0, numbers.skipped(), "what was before isn't missing");
    numbers.hear(-1);
    numbers.hearLead(1);
    assertEquals(2, numbers.skipped());
    numbers.hearLead(1);
    numbers.hearLead(-1);
    assertEquals(0, numbers.skipped());
    assertEquals(Heard.MISSED, numbers.hear(0));
  }

  @Test
  void oneStrangeNumberMovesNothingAndSomeInARowBeginAnew() {
    numbers.hear(1000);
    assertEquals(Heard.STRAY, numbers.hear(1000 + HeardNumbers.MOST_AHEAD + 1));
    assertEquals(Heard.STRAY, numbers.hear(7));
    assertEquals(Heard.AHEAD, numbers.hear(1001));
    assertEquals(0, numbers.skipped());
    for (int i = 0; i < HeardNumbers.RUN - 1; i++) {
      assertEquals(Heard.STRAY, numbers.hear(i));
    }
    assertEquals(Heard.ANEW, numbers.hear(HeardNumbers.RUN - 1));
    assertEquals(Heard.AHEAD, numbers.hear(HeardNumbers.RUN));
    assertEquals(0, numbers.skipped());
  }

  @Test
  void afterAPauseTheNextNumberIsTheFirst() {
    numbers.hear(5);
    numbers.begin();
    assertEquals(Heard.FIRST, numbers.hear(50_000));
    assertEquals(0, numbers.skipped());
  }

  /* Beside a set of all numbers. Every number comes from the seed, so a failure comes again. */
  @Test
  void lostMixedAndDoubledNumbersAreTheSameAsASetKnowsThem() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<Integer> sent = new ArrayList<>();
    int first = -20_000;
    for (int i = 0; i < 100_000; i++) {
      if (random.nextInt(10) == 0) {
        i += random.nextInt(200);
      }
      sent.add(first + i);
      if (random.nextInt(20) == 0) {
        sent.add(first + i);
      }
    }
    for (int i = 1; i + 40 < sent.size(); i += 40) {
      if (random.nextBoolean()) {
        Collections.shuffle(sent.subList(i, i + 40), random);
      }
    }
    Set<Integer> all = new HashSet<>();
    int lead = sent.getFirst();
    long skipped = 0;
    for (int number : sent) {
      int distance = number - lead;
      Heard expected =
          all.isEmpty()
              ? Heard.FIRST
              : distance > 0 ? Heard.AHEAD : all.contains(number) ? Heard.AGAIN : Heard.MISSED;
      assertEquals(expected, numbers.hear(number), "number " + number + " of seed " + seed);
      all.add(number);
      skipped += numbers.skipped() - (expected == Heard.MISSED ? 1 : 0);
      lead = distance > 0 ? number : lead;
    }
    assertEquals(lead - sent.getFirst() + 1 - all.size(), skipped, "seed " + seed);
  }
}
