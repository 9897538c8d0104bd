package io.heddle.fabric.model;

/** A switch's choice of a group's member for a flow. Pure: one flow, one member. */
public sealed interface SwitchHash permits HashModel, LinuxHash, JenkinsHash {
  /** Returns the member for this flow, from 0. */
  int member(RoceFlow flow, EcmpGroup group);

  /** Returns the same hash with another seed, for another switch. */
  SwitchHash withSeed(int seed);

  /** Returns the seed. */
  int seed();

  /** Returns algorithm and seed for display. */
  String text();
}
