package io.heddle.gateway.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Losses and round trips of probes, in virtual time. */
final class ListProbeTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1_000 * MS;

  private final ListProbe probe = new ListProbe(SECOND);

  @Test
  void resultIsUnknownBeforeTheFirstOutcome() {
    probe.send(0);
    ProbeResult result = probe.result();
    assertTrue(Double.isNaN(result.lossShare()) && Double.isNaN(result.roundTripNs()));
    assertEquals(0, result.misses());
  }

  @Test
  void roundTripIsTheMedianWithoutTheReflectorsTime() {
    for (int i = 1; i <= 3; i++) {
      probe.answered(probe.send(i * SECOND), i * SECOND + i * 10 * MS, 4 * MS);
    }
    assertEquals(16 * MS, probe.result().roundTripNs());
    assertEquals(0, probe.result().lossShare());
  }

  @Test
  void wrongReflectorClockGivesNoNegativeTime() {
    probe.answered(probe.send(0), 10 * MS, 50 * MS);
    assertEquals(0, probe.result().roundTripNs());
    probe.answered(probe.send(0), 10 * MS, -50 * MS);
    assertEquals(10 * MS, probe.result().roundTripNs());
  }

  @Test
  void lateDuplicateAndUnexpectedAnswersAreIgnored() {
    int late = probe.send(0);
    int twice = probe.send(900 * MS);
    probe.answered(late, SECOND, 0);
    probe.answered(twice, SECOND, 0);
    probe.answered(twice, SECOND, 0);
    probe.answered(77, SECOND, 0);
    probe.answered(-1, SECOND, 0);
    ProbeResult result = probe.result();
    assertEquals(2, result.outcomes());
    assertEquals(0.5, result.lossShare());
    assertEquals(0, result.misses(), "the last one was answered");
  }

  @Test
  void missesCountFromTheLastAnswer() {
    probe.answered(probe.send(0), MS, 0);
    for (int i = 1; i <= 4; i++) {
      probe.send(i * 100 * MS);
    }
    probe.giveUp(SECOND + 350 * MS);
    assertEquals(3, probe.result().misses());
    assertEquals(0.75, probe.result().lossShare());
    probe.answered(3 + 1, SECOND + 360 * MS, 0);
    assertEquals(0, probe.result().misses());
  }

  @Test
  void windowDropsOldOutcomes() {
    probe.send(0);
    probe.giveUp(SECOND);
    for (int i = 0; i < ListProbe.WINDOW; i++) {
      probe.answered(probe.send(2 * SECOND), 2 * SECOND + MS, 0);
    }
    assertEquals(0, probe.result().lossShare());
  }

  @Test
  void unansweredProbesDoNotAccumulate() {
    for (int i = 0; i < 10_000; i++) {
      probe.send(i);
    }
    assertTrue(probe.result().misses() >= 10_000 - 256);
  }
}
