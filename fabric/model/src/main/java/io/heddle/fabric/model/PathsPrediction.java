package io.heddle.fabric.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Predicted links of a model's flows.
 *
 * @param flows number of flows
 * @param tiers load of each tier, in the order in which a flow passes the tiers
 * @param pairs correlation of each tier with the next one
 */
public record PathsPrediction(int flows, List<TierLoad> tiers, List<TierPair> pairs) {
  /**
   * Load of one tier's links.
   *
   * @param name name of the tier
   * @param hash algorithm and seed of the tier's hash
   * @param links number of links over all switches of the tier
   * @param even flows per link if they were spread evenly
   * @param most number of flows of the most loaded link
   * @param least number of flows of the least loaded link
   * @param unused number of links without a flow
   * @param worstProbability probability, 0 to 1, that some link would have {@code most} flows or
   *     more if each flow took a random link
   * @param loads number of flows of each link
   */
  public record TierLoad(
      String name,
      String hash,
      int links,
      double even,
      int most,
      int least,
      int unused,
      double worstProbability,
      List<Integer> loads) {}

  /**
   * Correlation between the choices of two successive tiers.
   *
   * @param first name of the first tier
   * @param second name of the next tier
   * @param used number of combinations of a first tier's member and a second tier's member that
   *     have flows
   * @param usedIfRandom expected number of such combinations if the second tier selects at random
   * @param polarisation 0 if as many combinations are used as expected from random selection, 1 if
   *     the first tier's selection determines the second's
   * @param loads number of flows of each combination: a list for each member of the first tier,
   *     with a number for each member of the second tier
   */
  public record TierPair(
      String first,
      String second,
      int used,
      double usedIfRandom,
      double polarisation,
      List<List<Integer>> loads) {}

  /** Predicts the path of every flow of the model. */
  public static PathsPrediction of(FabricModel model) {
    int tiers = model.tiers().size();
    int[][] paths = model.flows().stream().map(model::path).toArray(int[][]::new);
    List<TierLoad> loads = new ArrayList<>();
    List<TierPair> pairs = new ArrayList<>();
    for (int tier = 0; tier < tiers; tier++) {
      loads.add(load(model, tier, paths));
      if (tier > 0) {
        pairs.add(pair(model, tier, paths));
      }
    }
    return new PathsPrediction(paths.length, loads, pairs);
  }

  private static TierLoad load(FabricModel model, int tier, int[][] paths) {
    int links = model.links(tier);
    int[] flows = new int[links];
    for (int[] path : paths) {
      flows[path[tier]]++;
    }
    int most = Arrays.stream(flows).max().orElseThrow();
    return new TierLoad(
        model.tiers().get(tier).name(),
        model.tiers().get(tier).hash().text(),
        links,
        (double) paths.length / links,
        most,
        Arrays.stream(flows).min().orElseThrow(),
        (int) Arrays.stream(flows).filter(each -> each == 0).count(),
        RandomPlacement.ofWorstLink(paths.length, links, most),
        Arrays.stream(flows).boxed().toList());
  }

  private static TierPair pair(FabricModel model, int tier, int[][] paths) {
    FabricTier before = model.tiers().get(tier - 1);
    FabricTier after = model.tiers().get(tier);
    int[][] flows = new int[before.group().members()][after.group().members()];
    for (int[] path : paths) {
      flows[path[tier - 1] % flows.length][path[tier] % after.group().members()]++;
    }
    int used = 0;
    int rows = 0;
    double usedByChance = 0;
    for (int[] row : flows) {
      int sum = Arrays.stream(row).sum();
      used += (int) Arrays.stream(row).filter(each -> each > 0).count();
      rows += sum > 0 ? 1 : 0;
      usedByChance += RandomPlacement.usedLinks(sum, row.length);
    }
    return new TierPair(
        before.name(),
        after.name(),
        used,
        usedByChance,
        usedByChance - rows < 1e-9
            ? 0
            : Math.clamp((usedByChance - used) / (usedByChance - rows), 0, 1),
        Arrays.stream(flows).map(row -> Arrays.stream(row).boxed().toList()).toList());
  }
}
