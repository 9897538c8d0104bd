package io.heddle.spray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that compare the policies in {@link PlaneModel}, in the situations that {@code heddle perf
 * policies} measures on a fabric.
 */
class PolicyComparisonTest {
  private static final double RATE = 50e6;
  private static final double SECONDS = 2;
  private static final List<Long> SEEDS = List.of(1L, 2L, 3L);
  private static final List<String> KEYS = List.of("if:a", "if:b", "if:c", "if:d");

  private enum Situation {
    EQUAL,
    ANNOUNCED,
    UNANNOUNCED,
    BURSTS
  }

  private static PlaneModel.Outcome run(
      String policy, Situation situation, double lateSeconds, long seed) {
    return run(policy, situation, lateSeconds, 0, seed);
  }

  private static PlaneModel.Outcome run(
      String policy, Situation situation, double lateSeconds, double pathSeconds, long seed) {
    return model(policy, situation, RATE, lateSeconds, pathSeconds, seed).run(SECONDS);
  }

  private static PlaneModel model(
      String policy,
      Situation situation,
      double rate,
      double lateSeconds,
      double pathSeconds,
      long seed) {
    boolean slow = situation == Situation.ANNOUNCED || situation == Situation.UNANNOUNCED;
    double[] rates = {slow ? rate / 4 : rate, rate, rate, rate};
    String weightsText = situation == Situation.ANNOUNCED ? "1,4,4,4" : "4,4,4,4";
    return new PlaneModel(
        SprayPolicy.named(policy, seed),
        new PlaneModel.Circumstances(
            PlaneWeights.parse(weightsText, KEYS),
            PlaneModel.Sharing.NONE,
            rates,
            situation == Situation.BURSTS,
            lateSeconds,
            pathSeconds),
        seed);
  }

  private static double mean(String policy, Situation situation, double lateSeconds) {
    return SEEDS.stream()
        .mapToDouble(seed -> run(policy, situation, lateSeconds, seed).ofIdeal())
        .average()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(Situation.class)
  void sprayUsesTheCapacityAndIsNeverFarBehindAnotherPolicy(Situation situation) {
    double spray = mean("spray", situation, 0);
    assertTrue(spray >= 0.95, "spray reaches " + spray + " of ideal");
    for (String other : SprayPolicy.NAMES) {
      double theirs = mean(other, situation, 0);
      assertTrue(spray >= 0.97 * theirs, "spray reaches " + spray + ", " + other + " " + theirs);
    }
  }

  @ParameterizedTest
  @CsvSource({"EQUAL, 0.03", "ANNOUNCED, 0.03", "UNANNOUNCED, 0.01", "BURSTS, 0.004"})
  void sprayKeepsPlanesBusyForACallerThatPollsLate(Situation situation, double lateSeconds) {
    double spray = mean("spray", situation, lateSeconds);
    assertTrue(spray >= 0.93, "spray reaches " + spray + " of ideal");
  }

  @Test
  void unannouncedSlowPlaneDelaysNoMessage() {
    double announced = run("spray", Situation.ANNOUNCED, 0, 1).p99();
    double unannounced = run("spray", Situation.UNANNOUNCED, 0, 1).p99();
    assertTrue(unannounced < 1.4 * announced, unannounced + " ms, announced " + announced + " ms");
    double pinned = run("pinned", Situation.UNANNOUNCED, 0, 1).p99();
    assertTrue(pinned > 2 * unannounced, "pinned by weight takes " + pinned + " ms");
  }

  /* A finding expires after five seconds. The run is long enough for two more findings. */
  @ParameterizedTest
  @ValueSource(doubles = {5e6, 15e6, 50e6, 200e6})
  void unannouncedSlowPlaneIsFoundAgainEachTime(double rate) {
    double spray = model("spray", Situation.UNANNOUNCED, rate, 0, 0, 1).run(24).ofIdeal();
    assertTrue(spray >= 0.95, "spray reaches " + spray + " of ideal");
  }

  @Test
  void spraySharesFollowTheWeightsIfPlanesCarryThem() {
    double[] shares = run("spray", Situation.ANNOUNCED, 0, 1).shares();
    assertEquals(1.0 / 13, shares[0], 0.01);
    assertEquals(4.0 / 13, shares[3], 0.01);
  }

  @ParameterizedTest
  @CsvSource({
    "QUEUE, 3e9, 0, '4,2,1,1'",
    "QUEUE, 8e8, 0, '1,4,4,4'",
    "QUEUE, 3e8, 0, '1,1,1,1'",
    "QUEUE, 3e8, 0.004, '4,2,1,1'",
    "QUEUE, 3e8, 0, '20,5,1,1'",
    "QUEUE, 1e8, 0, '4,2,1,1'",
    "QUEUE, 1e8, 0.03, '1,4,4,4'",
    "PORT, 3e9, 0, '4,2,1,1'",
    "PORT, 8e8, 0, '1,4,4,4'",
    "PORT, 3e8, 0, '1,1,1,1'",
    "PORT, 3e8, 0.004, '4,2,1,1'",
    "PORT, 3e8, 0, '20,5,1,1'",
    "PORT, 1e8, 0, '4,2,1,1'",
    "PORT, 1e8, 0.03, '1,4,4,4'",
    "SENDER, 4e9, 0, '4,2,1,1'",
    "SENDER, 4e9, 0.004, '4,2,1,1'",
    "SENDER, 8e8, 0, '4,2,1,1'",
    "SENDER, 8e8, 0.004, '1,4,4,4'",
    "SENDER, 3e8, 0, '20,5,1,1'"
  })
  void spraySharesFollowTheWeightsOverASharedResource(
      PlaneModel.Sharing sharing, double rate, double lateSeconds, String weightsText) {
    PlaneWeights weights = PlaneWeights.parse(weightsText, KEYS);
    PlaneModel.Outcome outcome =
        new PlaneModel(
                SprayPolicy.named("spray", 1),
                new PlaneModel.Circumstances(
                    weights, sharing, new double[] {rate}, false, lateSeconds, 0),
                1)
            .run(SECONDS);
    for (int plane = 0; plane < KEYS.size(); plane++) {
      double wanted = (double) weights.weight(plane) / weights.total();
      assertEquals(
          wanted, outcome.shares()[plane], 0.02, "plane " + plane + " of " + outcome.ofIdeal());
    }
    double least = sharing == PlaneModel.Sharing.SENDER ? 0.85 * (1 - 5 * lateSeconds) : 0.95;
    assertTrue(outcome.ofIdeal() >= least, "reaches " + outcome.ofIdeal() + " of ideal");
  }

  @Test
  void shortMessagesDoNotAffectAPlanesRate() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    PlaneWeights weights = PlaneWeights.equal(2);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    long us = 1_000;
    for (int at = 1; at < 1_000; at += 20) {
      loads.setTime(at * us);
      loads.started(0, 8, weights);
      loads.started(1, 61_440, weights);
      loads.setTime((at + 10) * us);
      loads.finished(0, 8);
      loads.finished(1, 61_440);
    }
    loads.onWeightsChanged(weights, weights);
    assertEquals(0, policy.choose(0, 0, 1, 61_440, loads, weights), "10 us is its latency");
  }

  /*
   * Runs chunks on both planes: plane 0 takes 100 ms; plane 1 takes 1 ms and is idle for the rest
   * of that time.
   */
  private static void delayPlaneOne(PlaneLoads loads, PlaneWeights weights) {
    long ms = 1_000_000;
    loads.setTime(ms);
    loads.started(0, 61_440, weights);
    loads.started(1, 61_440, weights);
    for (int at = 2; at <= 101; at++) {
      loads.setTime(at * ms);
      if (loads.inFlightBytes(1) > 0) {
        loads.finished(1, 61_440);
      }
      if (at == 101) {
        loads.finished(0, 61_440);
      }
      loads.onPolled();
      if (at < 30) {
        loads.started(1, 61_440, weights);
      }
    }
  }

  @Test
  void recoveredPlaneIsUsedAgain() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    PlaneWeights weights = PlaneWeights.equal(2);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    long ms = 1_000_000;
    delayPlaneOne(loads, weights);
    loads.setTime(102 * ms);
    for (int chunk = 0; chunk < 4; chunk++) {
      assertEquals(1, policy.choose(0, chunk, 4, 61_440, loads, weights), "plane 0 took 100 ms");
    }
    loads.setTime(60_000 * ms);
    assertEquals(0, policy.choose(0, 0, 1, 61_440, loads, weights), "that was a minute ago");
  }

  @ParameterizedTest
  @EnumSource(
      value = Situation.class,
      names = {"EQUAL", "ANNOUNCED"})
  void sprayFillsALongPath(Situation situation) {
    double spray = run("spray", situation, 0, 0.025, 1).ofIdeal();
    assertTrue(spray >= 0.92, "spray reaches " + spray + " of ideal over 25 ms");
  }

  @Test
  void slowPlaneIsProbedWithOneChunkAfterAPause() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    PlaneWeights weights = PlaneWeights.equal(2);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    long ms = 1_000_000;
    delayPlaneOne(loads, weights);
    loads.setTime(60_000 * ms);
    int[] chosen = new int[2];
    for (int chunk = 0; chunk < 8; chunk++) {
      int plane = policy.choose(0, chunk, 8, 61_440, loads, weights);
      loads.started(plane, 61_440, weights);
      chosen[plane]++;
    }
    assertEquals(1, chosen[0]);
    assertEquals(7, chosen[1]);
  }

  @Test
  void returningPlaneCountsByItsWeight() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    PlaneWeights both = PlaneWeights.equal(2);
    delayPlaneOne(loads, both);
    assertEquals(1, policy.choose(0, 0, 1, 61_440, loads, both), "plane 0 took 100 ms");
    PlaneWeights without = PlaneWeights.parse("0,1", List.of("if:a", "if:b"));
    loads.onWeightsChanged(both, without);
    assertEquals(1, policy.choose(0, 0, 1, 61_440, loads, without));
    loads.onWeightsChanged(without, both);
    int[] chosen = new int[2];
    for (int chunk = 0; chunk < 8; chunk++) {
      int plane = policy.choose(0, chunk, 8, 61_440, loads, both);
      loads.started(plane, 61_440, both);
      chosen[plane]++;
    }
    assertEquals(4, chosen[0], "nothing is known of it any more");
  }

  @Test
  void unknownPlaneGetsFewChunksUntilItsFirstAcknowledgement() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    PlaneWeights weights = PlaneWeights.equal(2);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    loads.setTime(1);
    int chunks = 0;
    for (int plane = 0; plane != SprayPolicy.NO_PLANE; ) {
      plane = policy.choose(0, 0, 1, 61_440, loads, weights);
      if (plane != SprayPolicy.NO_PLANE) {
        loads.started(plane, 61_440, weights);
        chunks++;
      }
    }
    assertEquals(16, chunks);
  }

  @Test
  void onlyPlaneIsLimitedByItsWindowAlone() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 512);
    PlaneWeights weights = PlaneWeights.parse("0,1", List.of("if:a", "if:b"));
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    loads.setTime(1);
    int chunks = 0;
    while (policy.choose(0, 0, 1, 61_440, loads, weights) == 1) {
      loads.started(1, 61_440, weights);
      chunks++;
    }
    assertEquals((16 << 20) / 61_440, chunks);
  }

  @Test
  void chunksOfHugeMessagesFollowTheSameRules() {
    PlaneLoads loads = new PlaneLoads(2, 61_440, 16 << 20, 256);
    PlaneWeights weights = PlaneWeights.equal(2);
    SprayPolicy policy = SprayPolicy.named("spray", 1);
    int huge = 16 << 20;
    long ms = 1_000_000;
    loads.setTime(ms);
    for (int chunk = 0; chunk < 2; chunk++) {
      int plane = policy.choose(0, chunk, 64, huge, loads, weights);
      assertEquals(0, loads.inFlightBytes(plane));
      loads.started(plane, huge, weights);
    }
    assertEquals(SprayPolicy.NO_PLANE, policy.choose(0, 2, 64, huge, loads, weights));
    loads.setTime(101 * ms);
    loads.finished(1, huge);
    assertEquals(1, policy.choose(0, 2, 64, huge, loads, weights));
  }
}
