package io.heddle.sim.chunks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.RateProfile;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

class ChunkSimulationTest {
  private static final double RATE = 80e9; // 10 bytes per nanosecond
  private static final int HOP_NS = 100;
  private static final int CHUNK = 10_000;
  static final List<String> POLICIES = SprayPolicy.NAMES;

  private static ClosFabric flat(int gpus, int planes) {
    return new ClosFabric(gpus, planes, gpus, 0, RATE, RATE, HOP_NS);
  }

  private static ChunkSetting setting(ClosFabric fabric, Traffic traffic, String policy) {
    return new ChunkSetting(
        fabric,
        traffic,
        policy,
        connection -> PlaneWeights.equal(fabric.planes()),
        CHUNK,
        CHUNK,
        1 << 20,
        8,
        256,
        1_000_000,
        Switching.HASH,
        1);
  }

  private static ChunkOutcome run(ClosFabric fabric, Traffic traffic, String policy) {
    return run(setting(fabric, traffic, policy), new LinkQueues(fabric));
  }

  private static ChunkOutcome run(ChunkSetting setting, LinkQueues links) {
    return new ChunkSimulation(setting, links).run(part -> {});
  }

  @Test
  void timeOfALoneChunkIsItsLinksAndTheReturnPath() {
    Traffic one = TrafficPattern.INCAST.traffic(2, 2, CHUNK, 1, 1);
    ChunkOutcome outcome = run(flat(2, 1), one, "spray");
    assertEquals(2 * (1_000 + HOP_NS) + 2 * HOP_NS, outcome.endNs());
    assertEquals(outcome.endNs(), outcome.messageMostNs());
  }

  @Test
  void aChunkOfManyPacketsIsOnSeveralLinksAtOnce() {
    ClosFabric fabric = flat(2, 1);
    ChunkSetting whole = setting(fabric, TrafficPattern.INCAST.traffic(2, 2, CHUNK, 1, 1), "spray");
    ChunkSetting packets =
        new ChunkSetting(
            fabric,
            whole.traffic(),
            "spray",
            whole.weights(),
            CHUNK,
            CHUNK / 10,
            whole.windowBytes(),
            8,
            256,
            whole.timeoutNs(),
            Switching.HASH,
            1);
    assertEquals(1_000 + 100 + 4 * HOP_NS, run(packets, new LinkQueues(fabric)).endNs());
  }

  @Test
  void incastSharesTheReceiversPort() {
    Traffic incast = TrafficPattern.INCAST.traffic(5, 5, 50L * CHUNK, 4, 1);
    ChunkOutcome outcome = run(flat(5, 1), incast, "spray");
    assertEquals(4 * 4 * 50L * CHUNK, outcome.deliveredBytes());
    assertEquals(16, outcome.messages());
    assertTrue(outcome.ofIdeal() > 0.98 && outcome.ofIdeal() <= 1, "of ideal " + outcome.ofIdeal());
  }

  @ParameterizedTest
  @FieldSource("POLICIES")
  void failedPlaneLosesNoByte(String policy) {
    ClosFabric fabric = flat(4, 4);
    Traffic ring = TrafficPattern.PERMUTATION.traffic(4, 4, 40L * CHUNK, 30, 3);
    LinkQueues links = new LinkQueues(fabric);
    RateProfile hole = RateProfile.fault(0, 50_000, 1_500_000);
    for (int gpu = 0; gpu < 4; gpu++) {
      links.setProfile(fabric.down(1, gpu), hole);
    }
    ChunkOutcome outcome = run(setting(fabric, ring, policy), links);
    assertEquals(4L * 30 * 40 * CHUNK, outcome.deliveredBytes());
    assertEquals(120, outcome.messages());
    assertTrue(outcome.lost() > 0, "the black hole drops something");
  }

  @ParameterizedTest
  @EnumSource(TrafficPattern.class)
  void theSameSeedGivesTheSame(TrafficPattern pattern) {
    ClosFabric fabric = new ClosFabric(16, 2, 4, 4, RATE, RATE, HOP_NS);
    Traffic traffic = pattern.traffic(16, 16, 30L * CHUNK, 3, 9);
    ChunkOutcome first = run(fabric, traffic, "spraylink");
    assertEquals(first, run(fabric, traffic, "spraylink"));
    assertEquals(traffic.connections() * traffic.messageBytes() * 3, first.deliveredBytes());
  }

  @Test
  void anotherSeedGivesAnotherPermutation() {
    ClosFabric fabric = new ClosFabric(16, 2, 4, 4, RATE, RATE, HOP_NS);
    long one =
        run(fabric, TrafficPattern.PERMUTATION.traffic(16, 16, 30L * CHUNK, 3, 1), "spray").endNs();
    long other =
        run(fabric, TrafficPattern.PERMUTATION.traffic(16, 16, 30L * CHUNK, 3, 2), "spray").endNs();
    assertNotEquals(one, other);
  }

  @Test
  void pipelineStageWaitsForThePreviousOne() {
    Traffic pipeline = TrafficPattern.PIPELINE.traffic(4, 4, 10L * CHUNK, 1, 1);
    ChunkOutcome outcome = run(flat(4, 1), pipeline, "spray");
    /*
     * Each of three stages takes the time of its 10 chunks, and of one more chunk on the second
     * link.
     */
    assertEquals(3 * (11 * 1_000 + 2 * HOP_NS) + 2 * HOP_NS, outcome.endNs());
  }

  @Test
  void ringStepWaitsForThePreviousStep() {
    Traffic one = TrafficPattern.RING.traffic(4, 4, 10L * CHUNK, 1, 1);
    Traffic five = TrafficPattern.RING.traffic(4, 4, 10L * CHUNK, 5, 1);
    long stepNs = run(flat(4, 1), one, "spray").endNs() - 2 * HOP_NS;
    assertEquals(5 * stepNs + 2 * HOP_NS, run(flat(4, 1), five, "spray").endNs());
  }

  @Test
  void allocationIsIndependentOfTheNumberOfEvents() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().threadId();
    long[] bytes = new long[2];
    long[] events = new long[2];
    for (int turn = 0; turn < 4; turn++) {
      int rounds = turn % 2 == 0 ? 40 : 120;
      ClosFabric fabric = new ClosFabric(16, 4, 4, 4, RATE, RATE, HOP_NS);
      Traffic traffic = TrafficPattern.PERMUTATION.traffic(16, 16, 60L * CHUNK, rounds, 1);
      long before = threads.getThreadAllocatedBytes(thread);
      events[turn % 2] = run(fabric, traffic, "spray").events();
      bytes[turn % 2] = threads.getThreadAllocatedBytes(thread) - before;
    }
    double perEvent = (bytes[1] - bytes[0]) / (double) (events[1] - events[0]);
    /*
     * Each message's duration is stored. That takes 8 bytes for 60 chunks of 5 events each, and as
     * much again when the array grows.
     */
    assertTrue(perEvent < 0.5, perEvent + " bytes an event, of " + events[1]);
  }
}
