package io.heddle.cli.soak;

import io.heddle.cli.lab.Lab;

/** Two hosts, and what can be done to the network between them. Ranks and planes count from 0. */
interface ChaosNetwork extends AutoCloseable {
  Lab lab();

  /** Waits until it is as a run finds it. */
  void settle();

  /** Does it. Faults of processes aren't its. */
  void begin(ChaosEvent event);

  /** Undoes it; nothing where it isn't there. */
  void undo(ChaosEvent event);

  @Override
  void close();

  /** For a switch's rest: the plan asked for what this network doesn't have. */
  static IllegalArgumentException foreign(ChaosEvent event) {
    return new IllegalArgumentException("not a fault of this network: " + event);
  }
}
