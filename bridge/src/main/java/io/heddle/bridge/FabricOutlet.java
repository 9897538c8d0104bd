package io.heddle.bridge;

import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.StormGuard;

/**
 * Outlet of the limiter: sends packets into their fabric, and records them in the fabric's storm
 * guard.
 */
final class FabricOutlet implements Limiter.Outlet {
  private final PacketPort[] fabrics;
  private final StormGuard[] guards;

  /**
   * @param fabrics data sides of the ports in fabric a and b
   * @param guards storm guards of fabric a and b
   */
  FabricOutlet(PacketPort[] fabrics, StormGuard[] guards) {
    this.fabrics = fabrics;
    this.guards = guards;
  }

  @Override
  public void send(
      LimitedFlow flow,
      long packet,
      int lengthBytes,
      int crc,
      long digest,
      long arrivedNs,
      long nowNs) {
    guards[flow.side()].sent(digest, nowNs);
    fabrics[flow.side()].send(
        flow.sendPath(), packet, lengthBytes, crc, flow.counters(), arrivedNs);
  }

  /** Passes all packets that were sent since the last call to the system. */
  void flush() {
    for (PacketPort each : fabrics) {
      each.flush();
    }
  }

  /**
   * Drops the sent packets that weren't flushed, without counting them. Called after a round has
   * failed.
   */
  void discard() {
    for (PacketPort each : fabrics) {
      each.discard();
    }
  }
}
