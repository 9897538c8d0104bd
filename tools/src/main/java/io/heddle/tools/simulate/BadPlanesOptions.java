package io.heddle.tools.simulate;

import io.heddle.cli.kit.OptionRange;
import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import io.heddle.sim.links.RateProfile;
import io.heddle.sim.links.SplitMix;
import io.heddle.sim.patterns.Traffic;
import io.heddle.spray.PlaneWeights;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for degraded planes. */
final class BadPlanesOptions {
  private static final double CALM_NS = 400_000;
  private static final double BURST_NS = 100_000;
  private static final double LEFT = 0.2;
  private static final int WHOLE = 1_000;
  private static final long NS_PER_US = 1_000;

  @Option(
      names = "--degraded",
      paramLabel = "PLANE=SHARE",
      split = ",",
      description = "Planes whose ports have only this share of their rate, such as 0=0.25.")
  private Map<Integer, Double> degraded = new LinkedHashMap<>();

  @Option(
      names = "--announce",
      description = "Announce --degraded in routes: the weights are the remaining shares.")
  private boolean announced;

  @Option(
      names = "--fail",
      paramLabel = "PLANE@START:LENGTH",
      converter = PlaneFault.Form.class,
      description = "This plane drops everything for LENGTH from START on, in microseconds.")
  private @Nullable PlaneFault fault;

  @Option(
      names = "--bursts",
      description =
          "Other traffic: each plane has a fifth of its rate in bursts of 100 us, 400 us apart in"
              + " the mean.")
  private boolean bursts;

  @Option(
      names = "--bad-gpus",
      paramLabel = "N",
      description = "Number of GPUs whose ports are affected (all).")
  private int badGpus;

  private int badGpus(ClosFabric fabric) {
    return badGpus == 0 ? fabric.gpus() : badGpus;
  }

  void require(ClosFabric fabric, OptionRange range) {
    int last = fabric.planes() - 1;
    degraded.forEach((plane, share) -> {
      range.require("--degraded", plane, 0, last);
      if (!(share > 0 && share <= 1)) {
        throw range.refusal(
            "--degraded %s=%s is not a share above 0 and up to 1; use --fail for a dead plane"
                .formatted(plane, share));
      }
    });
    if (fault != null) {
      range.require("--fail", fault.plane(), 0, last);
    }
    range.require("--bad-gpus", badGpus, 0, fabric.gpus());
    int kinds = (degraded.isEmpty() ? 0 : 1) + (fault == null ? 0 : 1) + (bursts ? 1 : 0);
    if (kinds > 1) {
      throw range.refusal("--degraded, --fail and --bursts can't be combined");
    }
    if (announced && degraded.isEmpty()) {
      throw range.refusal("--announce requires --degraded");
    }
  }

  /** Returns a description of the degradation for reports. */
  String text() {
    List<String> parts = new ArrayList<>();
    degraded.forEach((plane, share) -> parts.add("plane " + plane + " has " + share));
    if (announced) {
      parts.add("announced");
    }
    if (fault != null) {
      parts.add(
          "plane %s is down from %s us for %s us"
              .formatted(fault.plane(), fault.startUs(), fault.lengthUs()));
    }
    if (bursts) {
      parts.add("bursts of other traffic");
    }
    if (parts.isEmpty()) {
      return "planes equal";
    }
    return String.join(", ", parts) + (badGpus == 0 ? "" : ", at " + badGpus + " GPUs");
  }

  /** Returns a fabric's links, degraded by the options. */
  LinkQueues links(ClosFabric fabric, long seed) {
    LinkQueues links = new LinkQueues(fabric);
    degraded.forEach((plane, share) -> impair(fabric, links, plane, RateProfile.constant(share)));
    if (fault != null) {
      impair(
          fabric,
          links,
          fault.plane(),
          RateProfile.fault(0, fault.startUs() * NS_PER_US, fault.lengthUs() * NS_PER_US));
    }
    for (int plane = 0; bursts && plane < fabric.planes(); plane++) {
      SplittableRandom random = new SplittableRandom(SplitMix.of(seed, plane));
      impair(fabric, links, plane, RateProfile.bursts(random, CALM_NS, BURST_NS, LEFT));
    }
    return links;
  }

  private void impair(ClosFabric fabric, LinkQueues links, int plane, RateProfile profile) {
    for (int gpu = 0; gpu < badGpus(fabric); gpu++) {
      links.setProfile(fabric.up(plane, gpu), profile);
      links.setProfile(fabric.down(plane, gpu), profile);
    }
  }

  /** Returns the temporary failure of a plane; null if there is none. */
  @Nullable PlaneFault fault() {
    return fault;
  }

  boolean isDegraded() {
    return !degraded.isEmpty();
  }

  boolean hasBursts() {
    return bursts;
  }

  /** Returns, for each plane, the share of its rate that degraded ports still have. */
  double[] remainingShares(ClosFabric fabric) {
    double[] left = new double[fabric.planes()];
    for (int plane = 0; plane < left.length; plane++) {
      left[plane] = degraded.getOrDefault(plane, 1.0);
    }
    return left;
  }

  /** Returns whether a connection begins or ends at a GPU whose ports are degraded. */
  boolean isAffected(ClosFabric fabric, Traffic traffic, int connection) {
    int bad = badGpus(fabric);
    return traffic.source()[connection] < bad || traffic.destination()[connection] < bad;
  }

  /**
   * Returns the weights announced to connections at degraded ports; equal weights without {@code
   * --announce}.
   */
  PlaneWeights announcedWeights(ClosFabric fabric) {
    if (!announced) {
      return PlaneWeights.equal(fabric.planes());
    }
    List<String> keys =
        IntStream.range(0, fabric.planes()).mapToObj(plane -> "plane:" + plane).toList();
    String text =
        IntStream.range(0, fabric.planes())
            .mapToObj(plane ->
                String.valueOf(Math.max(1, Math.round(WHOLE * degraded.getOrDefault(plane, 1.0)))))
            .collect(Collectors.joining(","));
    return PlaneWeights.parse(text, keys);
  }

  /** Returns a function from a connection to the weights announced to it. */
  IntFunction<PlaneWeights> weights(ClosFabric fabric, Traffic traffic) {
    PlaneWeights equal = PlaneWeights.equal(fabric.planes());
    PlaneWeights affected = announcedWeights(fabric);
    return connection -> isAffected(fabric, traffic, connection) ? affected : equal;
  }
}
