package io.heddle.sim.flows;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.SpineHash;
import io.heddle.sim.patterns.Traffic;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Max-min fair rates of all connections at one moment, if all connections send endlessly. If
 * messages wait for messages of other connections, the connections form chains, and all connections
 * of a chain have the rate of the slowest one.
 */
public final class FairRates {
  private final double[] bytesPerNs;
  private final int classes;

  private FairRates(double[] bytesPerNs, int classes) {
    this.bytesPerNs = bytesPerNs;
    this.classes = classes;
  }

  /**
   * Computes the rates.
   *
   * @param links links of the fabric with their impairments
   * @param atNs moment for which rates are computed
   * @param shares returns a connection's shares of bytes by plane, whose sum is 1
   * @param sprays whether a leaf spreads each connection evenly over its spines; otherwise a
   *     connection has one spine per plane, selected by the same hash as in the chunk simulation
   * @param seed seed of this hash
   */
  public static FairRates of(
      ClosFabric fabric,
      Traffic traffic,
      LinkQueues links,
      double atNs,
      IntFunction<double[]> shares,
      boolean sprays,
      long seed) {
    FlowGraph graph = new FlowGraph(capacities(fabric, links, atNs, sprays));
    for (int connection = 0; connection < traffic.connections(); connection++) {
      int source = traffic.source()[connection];
      int destination = traffic.destination()[connection];
      double[] parts = shares.apply(connection);
      for (int plane = 0; plane < parts.length; plane++) {
        if (parts[plane] > 0) {
          int spine =
              fabric.spines() == 0 || sprays
                  ? 0
                  : SpineHash.spine(seed, connection, plane, fabric.spines());
          for (int hop = 0; hop < fabric.hops(source, destination); hop++) {
            graph.use(fabric.link(plane, source, destination, spine, hop), parts[plane]);
          }
        }
      }
      graph.endFlow();
    }
    SymmetryClasses classes = SymmetryClasses.of(graph);
    double[] rates = classes.rates();
    if (traffic.isChained()) {
      slowDown(rates, traffic);
    }
    return new FairRates(rates, classes.count());
  }

  /*
   * Returns the capacity of each link, in bytes per nanosecond. The links of a spraying leaf to its
   * spines act as one link of their total capacity, and likewise those from the spines to the leaf.
   */
  private static double[] capacities(
      ClosFabric fabric, LinkQueues links, double atNs, boolean sprays) {
    double[] capacity = new double[fabric.links()];
    for (int link = 0; link < capacity.length; link++) {
      capacity[link] = links.bytesPerNs(link, atNs);
    }
    if (sprays && fabric.spines() > 0) {
      for (int plane = 0; plane < fabric.planes(); plane++) {
        for (int leaf = 0; leaf < fabric.leaves(); leaf++) {
          double up = 0;
          double down = 0;
          for (int spine = 0; spine < fabric.spines(); spine++) {
            up += links.bytesPerNs(fabric.toSpine(plane, leaf, spine), atNs);
            down += links.bytesPerNs(fabric.fromSpine(plane, leaf, spine), atNs);
          }
          capacity[fabric.toSpine(plane, leaf, 0)] = up;
          capacity[fabric.fromSpine(plane, leaf, 0)] = down;
        }
      }
    }
    return capacity;
  }

  /*
   * Gives all connections of a chain the rate of its slowest one. In the ring pattern a chain leads
   * back to its first connection; in the pipeline pattern it ends.
   */
  private static void slowDown(double[] rates, Traffic traffic) {
    int[] chain = new int[rates.length];
    Arrays.fill(chain, Traffic.NONE);
    int[] successors = traffic.successors();
    double[] slowest = new double[rates.length];
    int chains = 0;
    for (int begin = 0; begin < rates.length; begin++) {
      boolean isFirst = traffic.predecessor()[begin] == Traffic.NONE || traffic.lag() > 0;
      if (!isFirst || chain[begin] != Traffic.NONE) {
        continue;
      }
      slowest[chains] = Double.POSITIVE_INFINITY;
      for (int at = begin; at != Traffic.NONE && chain[at] == Traffic.NONE; at = successors[at]) {
        chain[at] = chains;
        slowest[chains] = Math.min(slowest[chains], rates[at]);
      }
      chains++;
    }
    for (int each = 0; each < rates.length; each++) {
      rates[each] = slowest[chain[each]];
    }
  }

  /** Returns a connection's rate, bytes per nanosecond. */
  public double bytesPerNs(int connection) {
    return bytesPerNs[connection];
  }

  /** Returns the sum of all rates, bytes per nanosecond. */
  public double total() {
    return Arrays.stream(bytesPerNs).sum();
  }

  /** Returns the lowest rate, bytes per nanosecond. */
  public double slowest() {
    return Arrays.stream(bytesPerNs).min().orElseThrow();
  }

  /** Returns the highest rate, bytes per nanosecond. */
  public double fastest() {
    return Arrays.stream(bytesPerNs).max().orElseThrow();
  }

  /** Returns the number of classes of connections that have equal rates by symmetry. */
  public int classes() {
    return classes;
  }
}
