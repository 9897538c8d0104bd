package io.heddle.bridge.pgm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.pgm.SequenceWindow.Arrival;
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

/** Missing, late and duplicate numbers, for any first number of a session. */
class SequenceWindowTest {
  private final Arena arena = Arena.ofConfined();
  private final SequenceWindow window =
      new SequenceWindow(Memory.allocate(arena, SequenceWindow.BYTES, 8));

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, Integer.MAX_VALUE - 100, -100, -40_000, 12_345})
  void nothingIsMissingWhenAllNumbersArrive(int first) {
    assertEquals(Arrival.FIRST, window.receive(first));
    for (int i = 1; i < 3 * SequenceWindow.WINDOW; i++) {
      assertEquals(Arrival.AHEAD, window.receive(first + i));
      assertEquals(0, window.skipped(), "at " + i);
    }
    assertEquals(first + 3 * SequenceWindow.WINDOW - 1, window.lead());
  }

  @Test
  void countsGapAcrossWrapAndFillsItLateOrByRepair() {
    window.receive(-3);
    assertEquals(Arrival.AHEAD, window.receive(2));
    assertEquals(4, window.skipped(), "-2, -1, 0 and 1");
    assertEquals(Arrival.FILLS_GAP, window.receive(-1));
    assertEquals(Arrival.DUPLICATE, window.receive(-1));
    assertEquals(Arrival.FILLS_GAP, window.receiveRepair(0));
    assertEquals(Arrival.DUPLICATE, window.receiveRepair(2));
    assertEquals(Arrival.FILLS_GAP, window.receiveRepair(1));
    assertEquals(0, window.skipped());
  }

  @Test
  void repairAheadOfWindowMeansMissingOriginal() {
    assertEquals(Arrival.DUPLICATE, window.receiveRepair(5), "nothing is known to be missing yet");
    window.receive(10);
    assertEquals(Arrival.FILLS_GAP, window.receiveRepair(12));
    assertEquals(2, window.skipped());
    assertEquals(Arrival.FILLS_GAP, window.receive(11));
  }

  @Test
  void announcedLeadRevealsLostTail() {
    window.receiveLead(-2);
    assertEquals(0, window.skipped(), "earlier numbers aren't missing");
    window.receive(-1);
    window.receiveLead(1);
    assertEquals(2, window.skipped());
    window.receiveLead(1);
    window.receiveLead(-1);
    assertEquals(0, window.skipped());
    assertEquals(Arrival.FILLS_GAP, window.receive(0));
  }

  @Test
  void singleStrayChangesNothingAndRunOfStraysRestarts() {
    window.receive(1000);
    assertEquals(Arrival.STRAY, window.receive(1000 + SequenceWindow.MOST_AHEAD + 1));
    assertEquals(Arrival.STRAY, window.receive(7));
    assertEquals(Arrival.AHEAD, window.receive(1001));
    assertEquals(0, window.skipped());
    for (int i = 0; i < SequenceWindow.RUN - 1; i++) {
      assertEquals(Arrival.STRAY, window.receive(i));
    }
    assertEquals(Arrival.RESTARTED, window.receive(SequenceWindow.RUN - 1));
    assertEquals(Arrival.AHEAD, window.receive(SequenceWindow.RUN));
    assertEquals(0, window.skipped());
  }

  @Test
  void firstNumberAfterPauseRestartsWindow() {
    window.receive(5);
    window.reset();
    assertEquals(Arrival.FIRST, window.receive(50_000));
    assertEquals(0, window.skipped());
  }

  /*
   * Compares the window with a set of all numbers. Every number derives from the seed, so a failure
   * is reproducible.
   */
  @Test
  void classifiesRandomNumbersLikeSet() {
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
      Arrival expected =
          all.isEmpty()
              ? Arrival.FIRST
              : distance > 0
                  ? Arrival.AHEAD
                  : all.contains(number) ? Arrival.DUPLICATE : Arrival.FILLS_GAP;
      assertEquals(expected, window.receive(number), "number " + number + " of seed " + seed);
      all.add(number);
      skipped += window.skipped() - (expected == Arrival.FILLS_GAP ? 1 : 0);
      lead = distance > 0 ? number : lead;
    }
    assertEquals(lead - sent.getFirst() + 1 - all.size(), skipped, "seed " + seed);
  }
}
