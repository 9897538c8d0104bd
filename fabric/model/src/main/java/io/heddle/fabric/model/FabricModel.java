package io.heddle.fabric.model;

import java.util.List;

/**
 * Model of a fabric: successive tiers of equal links, and the flows through them. Each link of a
 * tier leads to a separate switch of the next tier. Link and switch have the same number.
 *
 * @param tiers tiers in the order in which a flow passes them
 * @param flows flows, at least one
 */
public record FabricModel(List<FabricTier> tiers, List<RoceFlow> flows) {
  /** Maximum number of links of one tier, over all its switches. */
  public static final int MOST_LINKS = 1 << 16;

  public FabricModel {
    tiers = List.copyOf(tiers);
    flows = List.copyOf(flows);
  }

  /** Returns the number of links of this tier, over all its switches. */
  public int links(int upToTier) {
    int links = 1;
    for (int tier = 0; tier <= upToTier; tier++) {
      links *= tiers.get(tier).group().members();
    }
    return links;
  }

  /**
   * Returns the link that a flow takes in each tier. Links are numbered over all switches of a
   * tier.
   */
  public int[] path(RoceFlow flow) {
    int[] path = new int[tiers.size()];
    int at = 0;
    for (int i = 0; i < path.length; i++) {
      FabricTier tier = tiers.get(i);
      at = at * tier.group().members() + tier.member(flow, at);
      path[i] = at;
    }
    return path;
  }
}
