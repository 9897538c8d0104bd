package io.heddle.sim.flows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.ChunkSimulation;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.RateProfile;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import io.heddle.spray.PlaneWeights;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FairRatesTest {
  private static final double RATE = 80e9; // 10 bytes per nanosecond
  private static final double PORT = 10;

  private static FlowGraph graph(double[] capacity, int[][] uses) {
    FlowGraph graph = new FlowGraph(capacity);
    for (int[] flow : uses) {
      for (int link : flow) {
        graph.use(link, 1);
      }
      graph.endFlow();
    }
    return graph;
  }

  @Test
  void slowestLinkIsSharedFirst() {
    FlowGraph graph = graph(new double[] {6, 10}, new int[][] {{0}, {0, 1}, {0}, {1}});
    assertArrayEquals(new double[] {2, 2, 2, 8}, MaxMin.rates(graph), 1e-9);
  }

  @Test
  void flowWithHalfItsBytesOnALinkTakesHalfItsRateThere() {
    FlowGraph graph = new FlowGraph(new double[] {10, 10, 4});
    graph.use(0, 0.5);
    graph.use(2, 0.5);
    graph.endFlow();
    graph.use(0, 1);
    graph.endFlow();
    assertArrayEquals(new double[] {6 + 2 / 3.0, 6 + 2 / 3.0}, MaxMin.rates(graph), 1e-9);
  }

  /*
   * Rates are max-min fair if each flow has a saturated link on which no flow is faster: then a
   * higher rate of this flow would slow a flow that isn't faster.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void ratesOfAnyGraphAreMaxMinFairAndTheSameByClasses(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] capacity = new double[20];
    Arrays.setAll(capacity, link -> 1 + random.nextInt(5));
    FlowGraph graph = new FlowGraph(capacity);
    for (int flow = 0; flow < 60; flow++) {
      int first = random.nextInt(20);
      graph.use(first, 1);
      graph.use((first + 1 + random.nextInt(19)) % 20, 0.25 * (1 + random.nextInt(4)));
      graph.endFlow();
    }
    double[] rates = MaxMin.rates(graph);
    double[] load = new double[20];
    double[] largest = new double[20];
    for (int flow = 0; flow < 60; flow++) {
      for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
        load[graph.link[use]] += rates[flow] * graph.weight[use];
        largest[graph.link[use]] = Math.max(largest[graph.link[use]], rates[flow]);
      }
    }
    for (int link = 0; link < 20; link++) {
      assertTrue(load[link] <= capacity[link] * (1 + 1e-9), "link " + link + " is overfull");
    }
    for (int flow = 0; flow < 60; flow++) {
      boolean isHeld = false;
      for (int use = graph.begin[flow]; use < graph.begin[flow + 1]; use++) {
        int link = graph.link[use];
        isHeld |=
            load[link] > capacity[link] * (1 - 1e-9) && rates[flow] > largest[link] * (1 - 1e-9);
      }
      assertTrue(isHeld, "flow " + flow + " could have more");
    }
    assertArrayEquals(rates, SymmetryClasses.of(graph).rates(), 1e-9);
  }

  private static FairRates evenly(ClosFabric fabric, Traffic traffic, LinkQueues links) {
    double[] even = new double[fabric.planes()];
    Arrays.fill(even, 1.0 / even.length);
    return FairRates.of(fabric, traffic, links, 0, connection -> even, true, 1);
  }

  @Test
  void thousandCardsFormFewClasses() {
    ClosFabric fabric = new ClosFabric(1_024, 4, 64, 64, RATE, RATE, 100);
    Traffic ring = TrafficPattern.RING.traffic(1_024, 1_024, 1 << 20, 1, 1);
    FairRates rates = evenly(fabric, ring, new LinkQueues(fabric));
    assertTrue(rates.classes() <= 64, rates.classes() + " classes");
    assertEquals(4 * PORT, rates.slowest(), 1e-9);
    assertEquals(1_024 * 4 * PORT, rates.total(), 1e-6);
  }

  @Test
  void oneSlowCardSlowsItsWholeRingAndItsPairInAPermutation() {
    ClosFabric fabric = new ClosFabric(64, 2, 64, 0, RATE, RATE, 100);
    LinkQueues links = new LinkQueues(fabric);
    links.setProfile(fabric.up(0, 5), RateProfile.constant(0.5));
    Traffic ring = TrafficPattern.RING.traffic(64, 64, 1 << 20, 1, 1);
    FairRates chained = evenly(fabric, ring, links);
    assertEquals(PORT, chained.fastest(), 1e-9);
    Traffic permutation = TrafficPattern.PERMUTATION.traffic(64, 64, 1 << 20, 1, 1);
    FairRates free = evenly(fabric, permutation, links);
    assertEquals(PORT, free.slowest(), 1e-9);
    assertEquals(63 * 2 * PORT + PORT, free.total(), 1e-6);
  }

  /*
   * In long runs, the simulations of chunks and of flows end at about the same time. Queues and the
   * paths of the last chunks make a difference of a few per cent.
   */
  @ParameterizedTest
  @CsvSource({"spray, 1", "spray, 0.25", "least-in-flight, 0.25", "hash, 1"})
  void chunksAndFlowsAgree(String policy, double left) {
    ClosFabric fabric = new ClosFabric(32, 4, 32, 0, RATE, RATE, 100);
    int rounds = 40;
    Traffic traffic = TrafficPattern.PERMUTATION.traffic(32, 32, 40 * 61_440L, rounds, 3);
    LinkQueues links = new LinkQueues(fabric);
    for (int card = 0; card < 32 && left < 1; card++) {
      links.setProfile(fabric.down(0, card), RateProfile.constant(left));
    }
    PlaneWeights announced =
        PlaneWeights.parse(left < 1 ? "1,4,4,4" : "1,1,1,1", java.util.List.of("a", "b", "c", "d"));
    ChunkSetting setting =
        new ChunkSetting(
            fabric,
            traffic,
            policy,
            connection -> announced,
            61_440,
            4_096,
            16 << 20,
            8,
            256,
            1_000_000,
            Switching.HASH,
            1);
    ChunkSimulation chunks = new ChunkSimulation(setting, links);
    double chunkNs = chunks.run(part -> {}).endNs();
    FairRates flows =
        FairRates.of(fabric, traffic, links, 0, chunks::planeShares, false, setting.seed());
    double flowNs = rounds * traffic.messageBytes() / flows.slowest();
    assertEquals(1, chunkNs / flowNs, 0.1, chunkNs + " ns of chunks, " + flowNs + " of flows");
  }

  @Test
  void firstLevelSharesAreThePolicys() {
    ClosFabric fabric = new ClosFabric(1_024, 4, 64, 64, RATE, RATE, 100);
    ChunkSetting setting =
        new ChunkSetting(
            fabric,
            TrafficPattern.PERMUTATION.traffic(1_024, 1_024, 20 * 61_440L, 1, 1),
            "spray",
            connection -> PlaneWeights.equal(4),
            61_440,
            4_096,
            16 << 20,
            8,
            256,
            1_000_000,
            Switching.HASH,
            1);
    PlaneWeights told = PlaneWeights.parse("1,4,4,4", java.util.List.of("a", "b", "c", "d"));
    LevelOneShares shares = new LevelOneShares(setting, told, new double[] {0.25, 1, 1, 1});
    double[] of = shares.of(777);
    assertEquals(1.0 / 13, of[0], 0.01);
    assertEquals(1, Arrays.stream(of).sum(), 1e-9);
    double[] without = shares.without(777, 2);
    assertEquals(0, without[2]);
    assertEquals(1, Arrays.stream(without).sum(), 1e-9);
    assertEquals(of[1] / (1 - of[2]), without[1], 1e-9);
  }
}
