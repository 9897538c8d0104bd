package io.heddle.fabric.model;

/** How a switch chooses the member of a group for a flow. Pure: one flow, one member. */
public sealed interface SwitchHash permits HashModel, LinuxHash, JenkinsHash {
  /** The member for this flow, 0 to one less than there are. */
  int member(RoceFlow flow, EcmpGroup group);

  /** The same hash with another seed, as a switch of its own has it. */
  SwitchHash withSeed(int seed);

  /** What it starts from. */
  int seed();

  /** For people: algorithm and seed. */
  String text();
}
