package io.heddle.sim.flows;

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

/**
 * Shares of bytes by plane under a policy. They come from a first-level (chunk by chunk) simulation
 * of 64 connections. In the simulation all cards are at one leaf, and each card sends to one other
 * card. Connection n of a large fabric has the shares of simulated connection n mod 64.
 */
public final class LevelOneShares {
  private static final int CARDS = 64;
  private static final int ROUNDS = 30;

  private final List<double[]> shares = new ArrayList<>();

  /**
   * Simulates these 64 connections.
   *
   * @param like setting of the large fabric; its policy, planes and sizes apply to the simulation
   *     too
   * @param announced weights of the planes
   * @param left share of each plane's rate that is available, above 0
   */
  public LevelOneShares(ChunkSetting like, PlaneWeights announced, double[] left) {
    ClosFabric large = like.fabric();
    ClosFabric small =
        new ClosFabric(
            CARDS,
            large.planes(),
            CARDS,
            0,
            large.portBitsPerSecond(),
            large.uplinkBitsPerSecond(),
            large.hopNs());
    Traffic traffic =
        TrafficPattern.PERMUTATION.traffic(
            CARDS, CARDS, like.traffic().messageBytes(), ROUNDS, like.seed());
    LinkQueues links = new LinkQueues(small);
    for (int plane = 0; plane < small.planes(); plane++) {
      for (int card = 0; card < CARDS && left[plane] < 1; card++) {
        links.setProfile(small.up(plane, card), RateProfile.constant(left[plane]));
        links.setProfile(small.down(plane, card), RateProfile.constant(left[plane]));
      }
    }
    ChunkSimulation simulation =
        new ChunkSimulation(
            new ChunkSetting(
                small,
                traffic,
                like.policy(),
                connection -> announced,
                like.chunkBytes(),
                like.packetBytes(),
                like.windowBytes(),
                like.outstanding(),
                like.queueChunks(),
                like.timeoutNs(),
                Switching.HASH,
                like.seed()),
            links);
    simulation.run(part -> {});
    for (int card = 0; card < CARDS; card++) {
      shares.add(simulation.planeShares(card));
    }
  }

  /** Returns a connection's shares by plane. */
  public double[] of(int connection) {
    return shares.get(connection % CARDS).clone();
  }

  /**
   * Returns a connection's shares by plane while one plane is down. Its share is divided among the
   * other planes in proportion to their own shares.
   */
  public double[] without(int connection, int plane) {
    double[] left = of(connection);
    double rest = 1 - left[plane];
    left[plane] = 0;
    for (int each = 0; each < left.length; each++) {
      left[each] = rest > 0 ? left[each] / rest : each == plane ? 0 : 1.0 / (left.length - 1);
    }
    return left;
  }
}
