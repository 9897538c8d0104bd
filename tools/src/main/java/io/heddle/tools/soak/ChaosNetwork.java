package io.heddle.tools.soak;

import io.heddle.tools.lab.Lab;

/** Network between two hosts, with fault injection. Ranks and planes count from 0. */
interface ChaosNetwork extends AutoCloseable {
  Lab lab();

  /** Waits until the network is ready for a run. */
  void settle();

  /** Injects a fault of the network. Faults of processes are injected by {@link ChaosRun}. */
  void begin(ChaosEvent event);

  /** Undoes a fault of the network. Has no effect if the fault isn't present. */
  void undo(ChaosEvent event);

  @Override
  void close();

  /** Creates the exception for a fault that this network doesn't support. */
  static IllegalArgumentException unsupported(ChaosEvent event) {
    return new IllegalArgumentException("not a fault of this network: " + event);
  }
}
