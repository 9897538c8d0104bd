package io.heddle.fabric.model;

import java.util.List;

/**
 * Tiers of equal links behind one another, and the flows that pass them. Each link of a tier leads
 * to a switch of its own in the next; the switches of a tier are numbered as these links are.
 *
 * @param tiers in the order in which a flow passes them
 * @param flows at least one
 */
public record FabricModel(List<FabricTier> tiers, List<RoceFlow> flows) {
  /** How many links a tier may have over all its switches. */
  public static final int MOST_LINKS = 1 << 16;

  public FabricModel {
    tiers = List.copyOf(tiers);
    flows = List.copyOf(flows);
  }

  /** How many links the first tiers have together, from all switches of the last of them. */
  public int links(int upToTier) {
    int links = 1;
    for (int tier = 0; tier <= upToTier; tier++) {
      links *= tiers.get(tier).group().members();
    }
    return links;
  }

  /** The link that a flow takes in each tier, numbered over all of the tier's switches. */
  public int[] way(RoceFlow flow) {
    int[] way = new int[tiers.size()];
    int at = 0;
    for (int i = 0; i < way.length; i++) {
      FabricTier tier = tiers.get(i);
      at = at * tier.group().members() + tier.member(flow, at);
      way[i] = at;
    }
    return way;
  }
}
