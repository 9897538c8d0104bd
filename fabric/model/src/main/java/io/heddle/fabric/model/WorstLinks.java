package io.heddle.fabric.model;

import java.util.ArrayList;
import java.util.List;

/**
 * How much the worst link of a tier has, as flows become more: the first flow of a model, the first
 * two, and so on to all.
 *
 * @param tier its name
 * @param links over all the tier's switches
 * @param points by number of flows
 */
public record WorstLinks(String tier, int links, List<Point> points) {
  /** Nine of ten cases lie between. */
  private static final double EDGE = 0.05;

  /** Where more flows than these make another point no clearer, and its band takes long. */
  private static final int MOST_FLOWS = 1024;

  private static final int MOST_POINTS = 32;

  /**
   * So many flows.
   *
   * @param flows how many
   * @param worst times the even share that the worst link has
   * @param luckLow the same of a worst link that few are better than, where each flow takes any
   *     link at random: one of twenty
   * @param luckHigh of one that few are worse than: one of twenty
   */
  public record Point(int flows, double worst, double luckLow, double luckHigh) {}

  /** A row for each tier of the model. */
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
      int link = model.way(model.flows().get(flows - 1))[tier];
      most = Math.max(most, ++loads[link]);
      if (flows % step == 0 || flows == all) {
        double even = (double) flows / links;
        Luck.Band luck = Luck.ofWorstLinks(flows, links, EDGE);
        points.add(new Point(flows, most / even, luck.least() / even, luck.most() / even));
      }
    }
    return new WorstLinks(model.tiers().get(tier).name(), links, points);
  }
}
