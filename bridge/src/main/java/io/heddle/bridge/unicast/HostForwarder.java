package io.heddle.bridge.unicast;

import io.heddle.bridge.group.LoopRules;

/** Forwarder of unicast datagrams between both fabrics. Used by the data thread only. */
public interface HostForwarder extends AutoCloseable {
  /**
   * Forwards a train of the fabric's batch that is for no group. Both fabrics must be flushed
   * afterwards.
   *
   * @param side the fabric that it came from
   * @param from rules of that fabric
   * @param to rules of the other one
   * @param now proxy addresses; none if hosts see each other's own addresses
   */
  void forward(int side, int train, LoopRules from, LoopRules to, ProxyAddresses now);

  /** Expires requests and idle entries of a fabric's hosts. */
  void expire(int side, long nowNs);

  /** Returns the current fault in words; empty for none. Control thread only. */
  default String check() {
    return "";
  }

  @Override
  default void close() {}
}
