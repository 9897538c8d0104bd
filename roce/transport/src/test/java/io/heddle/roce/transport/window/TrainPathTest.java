package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Tests when a path counts as losing trains, and when trains are retried. */
final class TrainPathTest {
  private static final int LONG = 60_000;
  private static final int SHORT = 8_000;
  private static final long ROUND_NS = 30_000_000;

  private final TrainPath path = new TrainPath();
  private long nowNs = -3_000_000_000L;
  private long slot;

  TrainPathTest() {
    path.start(nowNs);
  }

  /*
   * Loses a train and answers a later packet. Returns whether packets are sent singly from now on.
   */
  private boolean round() {
    long sentAtNs = nowNs + 1;
    nowNs += ROUND_NS;
    path.lost(++slot, LONG, sentAtNs, nowNs);
    return path.answered(sentAtNs + 1, nowNs);
  }

  private void lose() {
    for (int i = 1; i < TrainPath.ROUNDS; i++) {
      assertFalse(round());
      assertFalse(path.sendsSinglePackets());
      assertTrue(path.isInDoubt(), "what is sent again goes singly");
    }
    assertTrue(round());
    assertTrue(path.sendsSinglePackets());
  }

  @Test
  void consecutiveRoundsEndTrainsWithinASecond() {
    long startNs = nowNs;
    lose();
    assertTrue(nowNs - startNs < 1_000_000_000);
  }

  @Test
  void onlyEquallyLongTrainEndsDoubt() {
    for (int i = 1; i < TrainPath.ROUNDS; i++) {
      round();
      path.carried(++slot, SHORT);
    }
    path.carried(++slot, LONG);
    assertFalse(path.isInDoubt());
    lose();
  }

  @Test
  void oneBurstIsOneRound() {
    long sentAtNs = nowNs + 1;
    nowNs += ROUND_NS;
    for (int i = 0; i < 100; i++) {
      path.lost(++slot, LONG, sentAtNs + i, nowNs);
      path.answered(nowNs, nowNs + i);
    }
    for (int i = 2; i < TrainPath.ROUNDS; i++) {
      assertFalse(round());
    }
    assertTrue(round());
  }

  @Test
  void silentPathMakesNoRounds() {
    long beforeNs = nowNs;
    for (int i = 0; i < 100; i++) {
      nowNs += ROUND_NS;
      path.lost(++slot, LONG, nowNs - 1, nowNs);
      assertFalse(path.answered(beforeNs, nowNs), "sent before the train was");
    }
    assertFalse(path.isInDoubt());
  }

  @Test
  void briefSpanOfLossesDoesNotDecide() {
    for (int i = 0; i < 3 * TrainPath.ROUNDS; i++) {
      nowNs += 1_000_000;
      path.lost(++slot, LONG, nowNs, nowNs);
      assertFalse(path.answered(nowNs + 1, nowNs + 1));
    }
  }

  @Test
  void trialsBackOffAndSuccessRestoresTrains() {
    lose();
    long pauseNs = TrainPath.FIRST_PAUSE_NS;
    for (int i = 0; i < 8; i++) {
      assertFalse(path.beginTrial(++slot, LONG, nowNs + pauseNs - 1));
      nowNs += pauseNs;
      assertFalse(path.beginTrial(slot, SHORT, nowNs), "as long as what was lost");
      assertTrue(path.beginTrial(++slot, LONG, nowNs));
      assertFalse(path.beginTrial(slot + 1, LONG, nowNs), "one at a time");
      path.lost(slot, LONG, nowNs, nowNs);
      assertTrue(path.sendsSinglePackets());
      pauseNs = Math.min(2 * pauseNs, TrainPath.LONGEST_PAUSE_NS);
    }
    assertEquals(TrainPath.LONGEST_PAUSE_NS, pauseNs);
    nowNs += pauseNs;
    assertTrue(path.beginTrial(++slot, LONG, nowNs));
    path.carried(slot, LONG);
    path.removed(slot, nowNs);
    assertFalse(path.sendsSinglePackets());
    assertFalse(path.isInDoubt());
    lose();
  }
}
