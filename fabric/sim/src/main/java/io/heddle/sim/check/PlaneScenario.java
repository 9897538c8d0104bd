package io.heddle.sim.check;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.RateProfile;
import java.util.List;
import java.util.SplittableRandom;

/** Scenario of the comparison of policies: an impairment of the eight planes. */
enum PlaneScenario {
  A("planes alike"),
  B("plane 0 at a quarter, announced"),
  UNANNOUNCED("plane 0 at a quarter, not announced"),
  C("bursts that leave a fifth of a plane"),
  D("plane 0 swallows everything for 5 ms"),
  E("four senders, one receiver");

  private static final double QUARTER = 0.25;
  private static final double CALM_NS = 400_000;
  private static final double BURST_NS = 100_000;
  private static final double LEFT = 0.2;
  private static final long HOLE_FROM_NS = 2_000_000;
  private static final long HOLE_NS = 5_000_000;

  private final String text;

  PlaneScenario(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  int senders() {
    return this == E ? 4 : 1;
  }

  int messages() {
    return this == E ? 60 : 300;
  }

  /** Returns the announced weights of the planes. */
  List<Integer> weights(int planes) {
    return java.util.stream.IntStream.range(0, planes)
        .mapToObj(plane -> this == B ? (plane == 0 ? 1 : 4) : 1)
        .toList();
  }

  /** Applies this scenario's impairment to the ports of the receiver, which is GPU 0. */
  void impair(ClosFabric fabric, LinkQueues links, long seed) {
    switch (this) {
      case B, UNANNOUNCED -> links.setProfile(fabric.down(0, 0), RateProfile.constant(QUARTER));
      case C -> {
        SplittableRandom random = new SplittableRandom(seed);
        for (int plane = 0; plane < fabric.planes(); plane++) {
          links.setProfile(
              fabric.down(plane, 0), RateProfile.bursts(random.split(), CALM_NS, BURST_NS, LEFT));
        }
      }
      case D -> links.setProfile(fabric.down(0, 0), RateProfile.fault(0, HOLE_FROM_NS, HOLE_NS));
      case A, E -> {}
    }
  }
}
