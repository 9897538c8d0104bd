package io.heddle.sim.check;

import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.ChunkSimulation;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import io.heddle.spray.PlaneWeights;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Check of each policy's goodput ÷ ideal against the same policy in another simulator, in the six
 * scenarios of {@link PlaneScenario}, with eight planes of 100 Gbit/s and chunks of 64 KiB. The
 * other simulator's figures are means over four to six seeds.
 *
 * <p>The other simulator's closest equivalent of {@code spray} is static weights. The two behave
 * alike until the bytes in flight on a plane fill its share of the connection's window. Then {@code
 * spray} moves chunks to other planes, while static weights wait. So {@code spray} has no expected
 * figure in the scenarios in which that happens. {@code pinned} has no expected figure in any
 * scenario: the shipped policy cuts a message into one segment per plane, unlike the other
 * simulator's.
 */
public final class TableCheck {
  private static final int PLANES = 8;
  private static final int CHUNK_BYTES = 64 << 10;
  private static final long MESSAGE_BYTES = 4 << 20;
  private static final double PORT = 100e9;
  private static final long HOP_NS = 1_250;
  private static final long ROUND_TRIP_NS = 4 * HOP_NS;
  private static final long TIMEOUT_NS = 1_000_000;
  private static final int OUTSTANDING = 300;
  private static final int QUEUE_CHUNKS = 256;

  /**
   * Tolerance for the policy {@code hash}, whose result depends on the planes that the hash happens
   * to select.
   */
  private static final double HASH_TOLERANCE = 0.12;

  private static final double TOLERANCE = 0.04;

  private static final double NONE = Double.NaN;

  private static final Map<String, double[]> EXPECTED = new LinkedHashMap<>();

  static {
    EXPECTED.put("hash", new double[] {.43, .32, .32, .40, .43, .62});
    EXPECTED.put("spray", new double[] {1.00, 1.00, NONE, NONE, NONE, 1.00});
    EXPECTED.put("least-in-flight", new double[] {1.00, 1.00, 1.00, .98, 1.00, 1.00});
    EXPECTED.put("spraylink", new double[] {1.00, .99, .99, .97, 1.00, 1.00});
  }

  private TableCheck() {}

  /**
   * Simulates all cases and returns one row for each.
   *
   * @param seeds number of seeds over which each figure is averaged; more seeds reduce random
   *     differences
   * @param progress receives the finished fraction of the work
   */
  public static List<CheckRow> run(int seeds, DoubleConsumer progress) {
    List<CheckRow> rows = new ArrayList<>();
    int all = EXPECTED.size() * PlaneScenario.values().length;
    int done = 0;
    for (String policy : EXPECTED.keySet()) {
      double[] expected = Objects.requireNonNull(EXPECTED.get(policy));
      for (PlaneScenario scenario : PlaneScenario.values()) {
        progress.accept((double) done++ / all);
        if (Double.isNaN(expected[scenario.ordinal()])) {
          continue;
        }
        double sum = 0;
        for (int seed = 1; seed <= seeds; seed++) {
          sum += ofIdeal(policy, scenario, seed);
        }
        rows.add(
            CheckRow.of(
                scenario.text(),
                policy,
                expected[scenario.ordinal()],
                sum / seeds,
                policy.equals("hash") ? HASH_TOLERANCE : TOLERANCE));
      }
    }
    return rows;
  }

  private static double ofIdeal(String policy, PlaneScenario scenario, long seed) {
    int gpus = scenario.senders() + 1;
    ClosFabric fabric = new ClosFabric(gpus, PLANES, gpus, 0, PORT, PORT, HOP_NS);
    Traffic traffic =
        TrafficPattern.INCAST.traffic(gpus, gpus, MESSAGE_BYTES, scenario.messages(), seed);
    double chunksUnderWay =
        PLANES * (2 * ROUND_TRIP_NS * fabric.portBytesPerNs() / CHUNK_BYTES + 2);
    LinkQueues links = new LinkQueues(fabric);
    scenario.impair(fabric, links, seed);
    String weights =
        scenario.weights(PLANES).stream().map(String::valueOf).collect(Collectors.joining(","));
    List<String> keys = IntStream.range(0, PLANES).mapToObj(plane -> "plane:" + plane).toList();
    PlaneWeights announced = PlaneWeights.parse(weights, keys);
    ChunkSetting setting =
        new ChunkSetting(
            fabric,
            traffic,
            policy,
            connection -> announced,
            CHUNK_BYTES,
            CHUNK_BYTES,
            (long) (chunksUnderWay * CHUNK_BYTES),
            OUTSTANDING,
            QUEUE_CHUNKS,
            TIMEOUT_NS,
            Switching.HASH,
            seed);
    return new ChunkSimulation(setting, links).run(part -> {}).ofIdeal();
  }
}
