package io.heddle.fabric.model;

/**
 * Hash by which a switch selects a group's member for a flow. The same flow always has the same
 * member.
 */
public sealed interface SwitchHash permits HashModel, LinuxHash, JenkinsHash {
  /** Returns the number of the member that the switch selects for this flow, from 0. */
  int member(RoceFlow flow, EcmpGroup group);

  /** Returns the same hash with another seed, as another switch may have. */
  SwitchHash withSeed(int seed);

  /** Returns the seed. */
  int seed();

  /** Returns algorithm and seed as text. */
  String text();
}
