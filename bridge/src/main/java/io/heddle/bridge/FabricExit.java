package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.group.StormGuard;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;

/** Where packets leave for: into their fabric, remembered by its storm guard. */
final class FabricExit implements Limiter.Outlet {
  private final FabricPort[] fabrics;
  private final StormGuard[] guards;

  /**
   * @param fabrics a and b
   * @param guards what was sent into a and b
   */
  FabricExit(FabricPort[] fabrics, StormGuard[] guards) {
    this.fabrics = fabrics;
    this.guards = guards;
  }

  @Override
  public void depart(
      LimitedFlow flow,
      long packet,
      int lengthBytes,
      int crc,
      long digest,
      long arrivedNs,
      long nowNs) {
    guards[flow.side()].sent(digest, nowNs);
    fabrics[flow.side()].send(flow.way(), packet, lengthBytes, crc, flow.counters(), arrivedNs);
  }

  /** Hands over to the system whatever departed. */
  void flush() {
    for (FabricPort each : fabrics) {
      each.flush();
    }
  }

  /** Drops whatever departed and wasn't flushed, uncounted: a round has failed on its way. */
  void discard() {
    for (FabricPort each : fabrics) {
      each.discard();
    }
  }
}
