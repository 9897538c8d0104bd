package io.heddle.fabric.model;

/**
 * A tier of switches on a flow's path; each has a group of equal links to the next tier.
 *
 * @param name for display
 * @param group of each switch
 * @param hash of the first switch
 * @param ownSeeds whether each switch has its own seed, the first one's plus its number; otherwise
 *     all have the same
 */
public record FabricTier(String name, EcmpGroup group, SwitchHash hash, boolean ownSeeds) {
  /** Returns the member that the numbered switch selects. */
  int member(RoceFlow flow, int switchNumber) {
    SwitchHash own = ownSeeds ? hash.withSeed(hash.seed() + switchNumber) : hash;
    return own.member(flow, group);
  }
}
