package io.heddle.bridge.unicast;

import io.heddle.bridge.multicast.LoopRules;

/** Forwarder of unicast datagrams between both fabrics. Used by the data thread only. */
public interface HostForwarder extends AutoCloseable {
  /**
   * Forwards a unicast train of a fabric's batch. Both fabrics must be flushed afterwards.
   *
   * @param side fabric that the train came from, 0 for a
   * @param train index in the batch
   * @param from source filter of that fabric
   * @param to source filter of the other fabric
   * @param now current proxy addresses; none if hosts see each other's own addresses
   */
  void forward(int side, int train, LoopRules from, LoopRules to, ProxyAddresses now);

  /** Expires requests and idle table entries of a fabric's hosts. */
  void expire(int side, long nowNs);

  /** Returns the current fault in words; empty for none. Control thread only. */
  default String check() {
    return "";
  }

  @Override
  default void close() {}
}
