package io.heddle.fabric.model;

/**
 * Tier of switches on a flow's path. Each switch has a group of equal links to the next tier.
 *
 * @param name name of the tier in output
 * @param group group of links of each switch
 * @param hash hash of the first switch of the tier
 * @param ownSeeds whether each switch has its own seed, which is the first switch's seed plus the
 *     switch's number; otherwise all switches have the same seed
 */
public record FabricTier(String name, EcmpGroup group, SwitchHash hash, boolean ownSeeds) {
  /** Returns the member that a switch of the tier selects. */
  int member(RoceFlow flow, int switchNumber) {
    SwitchHash own = ownSeeds ? hash.withSeed(hash.seed() + switchNumber) : hash;
    return own.member(flow, group);
  }
}
