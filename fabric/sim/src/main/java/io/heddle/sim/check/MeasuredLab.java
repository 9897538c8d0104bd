package io.heddle.sim.check;

import java.util.List;

/**
 * Measurement of one policy in a lab of real routers. The lab has two hosts on two leaves, and one
 * spine per plane.
 *
 * @param situation name of the situation in the lab's report
 * @param policy policy that selected the planes
 * @param announcesQuarter whether routes announce that the first plane has a quarter of its rate
 * @param hasQuarter whether the first plane has a quarter of its rate
 * @param goodputGbps payload that arrived, Gbit/s
 * @param planeShares share of each plane in the bytes
 */
public record MeasuredLab(
    String situation,
    String policy,
    boolean announcesQuarter,
    boolean hasQuarter,
    double goodputGbps,
    List<Double> planeShares) {
  public MeasuredLab {
    planeShares = List.copyOf(planeShares);
  }
}
