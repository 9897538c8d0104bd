package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.group.StormGuard;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;

/** Outlet of the limiter: sends packets into their fabric and records them in its storm guard. */
final class FabricOutlet implements Limiter.Outlet {
  private final FabricPort[] fabrics;
  private final StormGuard[] guards;

  /**
   * @param fabrics a and b
   * @param guards storm guards of fabric a and b
   */
  FabricOutlet(FabricPort[] fabrics, StormGuard[] guards) {
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

  /** Passes all departed packets to the system. */
  void flush() {
    for (FabricPort each : fabrics) {
      each.flush();
    }
  }

  /** Drops the departed packets that weren't flushed, uncounted, after a round has failed. */
  void discard() {
    for (FabricPort each : fabrics) {
      each.discard();
    }
  }
}
