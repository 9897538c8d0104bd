package io.heddle.sim.check;

import io.heddle.sim.chunks.ChunkOutcome;
import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.ChunkSimulation;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.RateProfile;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import io.heddle.spray.PlaneWeights;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Comparison of a lab of real routers with its simulation. One host sends to another host on a
 * different leaf, over one spine per plane. Each plane's simulated share of the bytes may differ by
 * {@link #POINTS} from the measured share, and the goodput by the fraction {@link #PART}.
 *
 * @param planes number of planes of the lab
 * @param rateGbps rate of payload on a plane's links, Gbit/s
 * @param messageBytes size of each message
 * @param outstanding number of messages in flight
 * @param seconds duration of a measurement in seconds
 */
public record LabCheck(
    int planes, double rateGbps, long messageBytes, int outstanding, double seconds) {
  /** Allowed difference of a plane's share, in percentage points. */
  public static final double POINTS = 3;

  /** Allowed difference of goodput, as a fraction of the measured goodput. */
  public static final double PART = 0.10;

  private static final double GIGA = 1e9;
  private static final double PERCENT = 100;
  private static final int CHUNK_BYTES = 60 << 10;
  private static final int PACKET_BYTES = 8_704;
  private static final long WINDOW_BYTES = 16 << 20;
  private static final int QUEUE_CHUNKS = 256;

  /**
   * Timeout of a chunk, ns. It is long, since the queues of a lab's links are long. No chunk is
   * lost in the measured cases.
   */
  private static final long TIMEOUT_NS = 1_000_000_000;

  /** Latency in ns from one network namespace to the next, if all share one processor. */
  private static final long HOP_NS = 50_000;

  private static final int QUARTER = 4;

  /**
   * Simulates a measured lab and returns one row for its goodput, and one for the share of each
   * plane.
   */
  public List<CheckRow> rows(MeasuredLab measured, long seed) {
    ChunkOutcome found = simulate(measured, seed);
    String of = "lab, " + measured.situation() + ", ";
    double goodput = found.deliveredBytes() * Byte.SIZE / (double) found.endNs();
    List<CheckRow> rows = new ArrayList<>();
    rows.add(
        CheckRow.of(
            of + "Gbit/s",
            measured.policy(),
            measured.goodputGbps(),
            goodput,
            PART * measured.goodputGbps()));
    for (int plane = 0; plane < planes; plane++) {
      rows.add(
          CheckRow.of(
              of + "plane " + (plane + 1) + ", %",
              measured.policy(),
              PERCENT * measured.planeShares().get(plane),
              PERCENT * found.planeShares().get(plane),
              POINTS));
    }
    return rows;
  }

  private ChunkOutcome simulate(MeasuredLab measured, long seed) {
    double rate = rateGbps * GIGA;
    ClosFabric fabric = new ClosFabric(2, planes, 1, 1, rate, rate, HOP_NS);
    double carried = planes - (measured.hasQuarter() ? 1 - 1.0 / QUARTER : 0);
    int messages = (int) Math.max(outstanding, carried * rate * seconds / Byte.SIZE / messageBytes);
    Traffic traffic = TrafficPattern.PIPELINE.traffic(2, 2, messageBytes, messages, seed);
    LinkQueues links = new LinkQueues(fabric);
    if (measured.hasQuarter()) {
      links.setProfile(fabric.toSpine(0, 0, 0), RateProfile.constant(1.0 / QUARTER));
      links.setProfile(fabric.fromSpine(0, 1, 0), RateProfile.constant(1.0 / QUARTER));
    }
    List<String> keys = IntStream.range(0, planes).mapToObj(plane -> "plane:" + plane).toList();
    String weights =
        IntStream.range(0, planes)
            .mapToObj(plane -> measured.announcesQuarter() && plane == 0 ? "1" : "" + QUARTER)
            .collect(Collectors.joining(","));
    PlaneWeights announced = PlaneWeights.parse(weights, keys);
    ChunkSetting setting =
        new ChunkSetting(
            fabric,
            traffic,
            measured.policy(),
            connection -> announced,
            CHUNK_BYTES,
            PACKET_BYTES,
            WINDOW_BYTES,
            outstanding,
            QUEUE_CHUNKS,
            TIMEOUT_NS,
            Switching.HASH,
            seed);
    return new ChunkSimulation(setting, links).run(part -> {});
  }
}
