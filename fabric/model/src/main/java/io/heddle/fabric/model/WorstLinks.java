package io.heddle.fabric.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Load of a tier's most loaded link as flows are added one by one, in the order of the model.
 *
 * @param tier name of the tier
 * @param links number of links over all switches of the tier
 * @param points results in ascending order of the number of flows
 */
public record WorstLinks(String tier, int links, List<Point> points) {
  /**
   * Probability that a random load is below the band, and equally that it is above, so that the
   * band contains nine of ten random loads.
   */
  private static final double EDGE = 0.05;

  /**
   * Largest number of flows that are added. More flows would add no detail to a plot, and their
   * bands are slow to compute.
   */
  private static final int MOST_FLOWS = 1024;

  private static final int MOST_POINTS = 32;

  /**
   * Result for a number of flows.
   *
   * @param flows number of flows
   * @param worst load of the most loaded link, in multiples of the even share
   * @param randomLow 5 % quantile of this load if each flow takes a random link
   * @param randomHigh 95 % quantile of this load if each flow takes a random link
   */
  public record Point(int flows, double worst, double randomLow, double randomHigh) {}

  /** Returns one result for each tier of the model. */
  public static List<WorstLinks> of(FabricModel model) {
    List<WorstLinks> tiers = new ArrayList<>();
    for (int tier = 0; tier < model.tiers().size(); tier++) {
      tiers.add(of(model, tier));
    }
    return tiers;
  }

  private static WorstLinks of(FabricModel model, int tier) {
    int links = model.links(tier);
    int all = Math.min(model.flows().size(), MOST_FLOWS);
    int step = (all + MOST_POINTS - 1) / MOST_POINTS;
    int[] loads = new int[links];
    int most = 0;
    List<Point> points = new ArrayList<>();
    for (int flows = 1; flows <= all; flows++) {
      int link = model.path(model.flows().get(flows - 1))[tier];
      most = Math.max(most, ++loads[link]);
      if (flows % step == 0 || flows == all) {
        double even = (double) flows / links;
        RandomPlacement.Band band = RandomPlacement.ofWorstLinks(flows, links, EDGE);
        points.add(new Point(flows, most / even, band.least() / even, band.most() / even));
      }
    }
    return new WorstLinks(model.tiers().get(tier).name(), links, points);
  }
}
