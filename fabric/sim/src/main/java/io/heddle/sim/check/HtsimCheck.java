package io.heddle.sim.check;

import io.heddle.sim.chunks.ChunkSetting;
import io.heddle.sim.chunks.ChunkSimulation;
import io.heddle.sim.chunks.Switching;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import io.heddle.spray.PlaneWeights;
import java.util.List;

/**
 * Check against two figures of uet-htsim, a packet simulator: 128 nodes at 100 Gbit/s in one plane
 * send 2 MB each. In a permutation whose packets take random spines, the last flow ends after 239
 * µs (229 with REPS and 205 with bitmaps, which have no equivalent here). In an incast of 127 nodes
 * to one, the last flow ends after 21.03 ms.
 *
 * <p>In this simulation a sender always keeps one bandwidth-delay product in flight. The congestion
 * control of uet-htsim begins with that amount and returns to it. The result of the permutation
 * depends on the amount: with four times as much in flight, the last flow ends after 180 to 195 µs.
 */
public final class HtsimCheck {
  private static final int NODES = 128;
  private static final int NODES_PER_LEAF = 16;
  private static final double RATE = 100e9;

  /**
   * Bytes of a packet, 64 of which are headers. 2 MB are 490 packets, so all nodes send 62,720
   * packets.
   */
  private static final int PACKET_BYTES = 4_150;

  private static final int PACKETS = 490;
  private static final long HOP_NS = 1_000;

  private static final long ROUND_TRIP_NS = 2 * ClosFabric.MOST_HOPS * HOP_NS;

  private static final double PERMUTATION_US = 239;
  private static final double INCAST_US = 21_030;
  private static final double TOLERANCE = 0.15;

  private HtsimCheck() {}

  /** Simulates the permutation and the incast, and returns the end of the last flow in each, µs. */
  public static List<CheckRow> run(long seed) {
    return List.of(
        row("permutation, last flow, us", TrafficPattern.PERMUTATION, PERMUTATION_US, seed),
        row("incast 127 to 1, last flow, us", TrafficPattern.INCAST, INCAST_US, seed));
  }

  private static CheckRow row(String name, TrafficPattern pattern, double expectedUs, long seed) {
    ClosFabric fabric =
        new ClosFabric(NODES, 1, NODES_PER_LEAF, NODES_PER_LEAF, RATE, RATE, HOP_NS);
    /* A message can have at most 64 chunks, so each packet is simulated as a message. */
    Traffic traffic = pattern.traffic(NODES, NODES, PACKET_BYTES, PACKETS, seed);
    long windowBytes = (long) (ROUND_TRIP_NS * fabric.portBytesPerNs());
    ChunkSetting setting =
        new ChunkSetting(
            fabric,
            traffic,
            "spray",
            connection -> PlaneWeights.equal(1),
            PACKET_BYTES,
            PACKET_BYTES,
            windowBytes,
            PACKETS,
            PACKETS,
            1_000_000,
            Switching.SPRAY,
            seed);
    double foundUs =
        new ChunkSimulation(setting, new LinkQueues(fabric)).run(part -> {}).endNs() / 1e3;
    return CheckRow.of(name, "spray", expectedUs, foundUs, TOLERANCE * expectedUs);
  }
}
