package io.heddle.fabric.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which links the flows of a model take.
 *
 * @param flows how many there are
 * @param tiers in the order in which a flow passes them
 * @param pairs each tier with the next one
 */
public record PathsPrediction(int flows, List<TierLoad> tiers, List<TierPair> pairs) {
  /**
   * The links of one tier.
   *
   * @param name the tier's
   * @param hash its algorithm and seed
   * @param links over all its switches
   * @param even flows a link if all had the same
   * @param most flows of the worst link
   * @param least flows of the link with the fewest
   * @param unused links without a flow
   * @param worstByLuck the chance, 0 to 1, that a worst link is as bad or worse where each flow
   *     takes any link at random
   * @param loads flows of each link
   */
  public record TierLoad(
      String name,
      String hash,
      int links,
      double even,
      int most,
      int least,
      int unused,
      double worstByLuck,
      List<Integer> loads) {}

  /**
   * How the choice of one tier tells that of the next.
   *
   * @param first the tier's name
   * @param second the next one's
   * @param used combinations of a member of either that have flows
   * @param usedByLuck how many are expected where the second tier chooses at random
   * @param polarisation 0 where as many are used as luck would, 1 where the first tier's choice
   *     decides the second's
   * @param loads flows by the first tier's member, then by the second's
   */
  public record TierPair(
      String first,
      String second,
      int used,
      double usedByLuck,
      double polarisation,
      List<List<Integer>> loads) {}

  /** Sends every flow of the model on its way. */
  public static PathsPrediction of(FabricModel model) {
    int tiers = model.tiers().size();
    int[][] ways = model.flows().stream().map(model::way).toArray(int[][]::new);
    List<TierLoad> loads = new ArrayList<>();
    List<TierPair> pairs = new ArrayList<>();
    for (int tier = 0; tier < tiers; tier++) {
      loads.add(load(model, tier, ways));
      if (tier > 0) {
        pairs.add(pair(model, tier, ways));
      }
    }
    return new PathsPrediction(ways.length, loads, pairs);
  }

  private static TierLoad load(FabricModel model, int tier, int[][] ways) {
    int links = model.links(tier);
    int[] flows = new int[links];
    for (int[] way : ways) {
      flows[way[tier]]++;
    }
    int most = Arrays.stream(flows).max().orElseThrow();
    return new TierLoad(
        model.tiers().get(tier).name(),
        model.tiers().get(tier).hash().text(),
        links,
        (double) ways.length / links,
        most,
        Arrays.stream(flows).min().orElseThrow(),
        (int) Arrays.stream(flows).filter(each -> each == 0).count(),
        Luck.ofWorstLink(ways.length, links, most),
        Arrays.stream(flows).boxed().toList());
  }

  private static TierPair pair(FabricModel model, int tier, int[][] ways) {
    FabricTier before = model.tiers().get(tier - 1);
    FabricTier after = model.tiers().get(tier);
    int[][] flows = new int[before.group().members()][after.group().members()];
    for (int[] way : ways) {
      flows[way[tier - 1] % flows.length][way[tier] % after.group().members()]++;
    }
    int used = 0;
    int rows = 0;
    double byLuck = 0;
    for (int[] row : flows) {
      int sum = Arrays.stream(row).sum();
      used += (int) Arrays.stream(row).filter(each -> each > 0).count();
      rows += sum > 0 ? 1 : 0;
      byLuck += Luck.usedLinks(sum, row.length);
    }
    return new TierPair(
        before.name(),
        after.name(),
        used,
        byLuck,
        byLuck - rows < 1e-9 ? 0 : Math.clamp((byLuck - used) / (byLuck - rows), 0, 1),
        Arrays.stream(flows).map(row -> Arrays.stream(row).boxed().toList()).toList());
  }
}
