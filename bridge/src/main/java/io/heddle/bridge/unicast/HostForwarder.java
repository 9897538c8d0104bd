package io.heddle.bridge.unicast;

import io.heddle.bridge.group.LoopRules;

/** Takes datagrams for one host from either fabric to the other. The data thread's. */
public interface HostForwarder extends AutoCloseable {
  /**
   * Takes a train of the fabric's batch that is for no group. Both fabrics have to be flushed then.
   *
   * @param side the fabric that it came from
   * @param from rules of that fabric
   * @param to rules of the other one
   * @param now addresses that stand for hosts; none where hosts see each other's own
   */
  void forward(int side, int train, LoopRules from, LoopRules to, StandIns now);

  /** Ends what has waited or been silent for long enough, of what came from a fabric. */
  void expire(int side, long nowNs);

  /** What is wrong, in words; empty for nothing. The control thread's. */
  default String look() {
    return "";
  }

  @Override
  default void close() {}
}
