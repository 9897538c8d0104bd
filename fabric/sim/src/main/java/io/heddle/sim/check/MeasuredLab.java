package io.heddle.sim.check;

import java.util.List;

/**
 * Measurement of one policy in a lab of real routers: two hosts on two leaves, one spine per plane.
 *
 * @param situation name in the lab's report
 * @param policy that chose planes
 * @param announcesQuarter whether routes announce the first plane's quarter
 * @param hasQuarter whether the first plane has a quarter of its rate
 * @param goodputGbps payload that arrived
 * @param planeShares of the bytes, by plane
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
