package io.heddle.sim.check;

import java.util.List;

/**
 * What one policy did on a lab of real routers: two hosts on two leaves, a spine a plane.
 *
 * @param situation as the lab's report calls it
 * @param policy that chose planes
 * @param announcesQuarter whether routes tell that the first plane has a quarter
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
