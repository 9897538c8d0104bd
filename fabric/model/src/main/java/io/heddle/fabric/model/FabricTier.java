package io.heddle.fabric.model;

/**
 * One tier of switches that a flow passes; each of them has a group of equal links to the next.
 *
 * @param name for people
 * @param group each switch's
 * @param hash of the first switch
 * @param ownSeeds whether each switch has a seed of its own: the first one's plus its number; else
 *     all have the same
 */
public record FabricTier(String name, EcmpGroup group, SwitchHash hash, boolean ownSeeds) {
  /** The member that the switch with this number selects. */
  int member(RoceFlow flow, int switchNumber) {
    SwitchHash own = ownSeeds ? hash.withSeed(hash.seed() + switchNumber) : hash;
    return own.member(flow, group);
  }
}
