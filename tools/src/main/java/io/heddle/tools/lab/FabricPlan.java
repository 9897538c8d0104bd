package io.heddle.tools.lab;

import java.util.List;

/**
 * Plan of a fabric. Planes, spines, leaves and hosts count from 1, as in their names.
 *
 * @param spines number of routers that connect the leaves; 0 if the planes are separate networks
 * @param links number of links between each leaf and each spine
 * @param leaves number of routers with hosts; as many as planes if the planes are separate networks
 * @param hosts number of hosts: distributed over the leaves in turn, or each on every plane if the
 *     planes are separate networks
 * @param ratesBitsPerSecond rate to which each plane's links are shaped, one per plane
 * @param bandwidthsGbps path bandwidth that BGP announces for each plane, in whole Gbit/s, which is
 *     the unit of the community
 * @param mtuBytes MTU of every link
 * @param queueMs capacity of the queue of a shaped link, in milliseconds of its rate
 * @param holdSeconds BGP's hold time, after which a silent cut is detected
 * @param bfdMs interval in ms of BFD between leaves and spines, with multiplier 3; 0 for no BFD
 * @param frr whether the last leaf is FRR instead of BIRD
 */
public record FabricPlan(
    FabricShape shape,
    int spines,
    int links,
    int leaves,
    int hosts,
    List<Long> ratesBitsPerSecond,
    List<Integer> bandwidthsGbps,
    int mtuBytes,
    int queueMs,
    int holdSeconds,
    int bfdMs,
    boolean frr) {
  public static final int MAX_PLANES = 32;
  public static final int MAX_HOSTS = 64;
  public static final int MAX_LEAVES = 32;
  public static final int MAX_LINKS = 8;
  public static final long MIN_RATE = 1_000_000;
  public static final long MAX_RATE = 100_000_000_000L;
  public static final int MAX_BANDWIDTH_GBPS = 65_535;

  public FabricPlan {
    ratesBitsPerSecond = List.copyOf(ratesBitsPerSecond);
    bandwidthsGbps = List.copyOf(bandwidthsGbps);
    require("hosts", hosts, 1, MAX_HOSTS);
    require("leaves", leaves, 1, MAX_LEAVES);
    require("links per spine", links, 1, MAX_LINKS);
    require("MTU", mtuBytes, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    require("queue", queueMs, 1, 10_000);
    require("hold time", holdSeconds, 3, 3_600);
    require("BFD interval", bfdMs, 0, 10_000);
    boolean hasSpines = shape == FabricShape.LEAF_SPINE;
    require("spines", spines, hasSpines ? 1 : 0, hasSpines ? MAX_PLANES : 0);
    int planes = hasSpines ? spines * links : leaves;
    require("planes", planes, 1, MAX_PLANES);
    if (ratesBitsPerSecond.size() != planes || bandwidthsGbps.size() != planes) {
      throw new IllegalArgumentException(
          ratesBitsPerSecond.size()
              + " rates and "
              + bandwidthsGbps.size()
              + " path bandwidths for "
              + planes
              + " planes; give one of each per plane");
    }
    for (int plane = 0; plane < planes; plane++) {
      require("rate in bit/s", ratesBitsPerSecond.get(plane), MIN_RATE, MAX_RATE);
      require("path bandwidth in Gbit/s", bandwidthsGbps.get(plane), 1, MAX_BANDWIDTH_GBPS);
    }
  }

  private static void require(String what, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          what + " " + value + " is not in " + least + " to " + most);
    }
  }

  public int planes() {
    return ratesBitsPerSecond.size();
  }

  long rate(int plane) {
    return ratesBitsPerSecond.get(plane - 1);
  }

  int bandwidth(int plane) {
    return bandwidthsGbps.get(plane - 1);
  }

  /** Returns the same plan with another rate and path bandwidth for one plane. */
  FabricPlan withRate(int plane, long rateBitsPerSecond, int bandwidthGbps) {
    List<Long> rates = new java.util.ArrayList<>(ratesBitsPerSecond);
    List<Integer> bandwidths = new java.util.ArrayList<>(bandwidthsGbps);
    rates.set(plane - 1, rateBitsPerSecond);
    bandwidths.set(plane - 1, bandwidthGbps);
    return new FabricPlan(
        shape,
        spines,
        links,
        leaves,
        hosts,
        rates,
        bandwidths,
        mtuBytes,
        queueMs,
        holdSeconds,
        bfdMs,
        frr);
  }
}
