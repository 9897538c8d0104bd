package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.group.GroupTable;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.group.RateLimit;
import io.heddle.bridge.pgm.PgmSessions;
import io.heddle.bridge.unicast.StandIns;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * What the data thread decides by, in one immutable piece: the control thread makes another one
 * when the configuration changes.
 *
 * @param groups by address, and whether this bridge forwards their packets
 * @param rules of packets from fabric a and b
 * @param links limits of what leaves for fabric a and b
 * @param standIns addresses that stand for hosts
 * @param pgm sessions of PGM; null where no group ever carried it
 * @param retired groups of the tables before that ended or were replaced
 * @param inUse the data thread counts it down once it decides by these
 */
record BridgeTables(
    GroupTable<Served> groups,
    List<LoopRules> rules,
    List<RateLimit> links,
    StandIns standIns,
    @Nullable PgmSessions pgm,
    List<BridgedGroup> retired,
    CountDownLatch inUse) {
  static BridgeTables of(
      BridgeConfig config,
      List<? extends FabricPort> fabrics,
      Map<Gid, Served> groups,
      List<Gid> otherBridges,
      @Nullable PgmSessions pgm,
      List<BridgedGroup> retired) {
    List<Gid> bridges = new ArrayList<>(config.bridges());
    bridges.addAll(otherBridges);
    return new BridgeTables(
        new GroupTable<>(groups),
        List.of(rules(config, bridges, fabrics, 0), rules(config, bridges, fabrics, 1)),
        config.links(),
        config.standIns(),
        pgm,
        List.copyOf(retired),
        new CountDownLatch(1));
  }

  /** What goes on in the place of a retired group; null where it is gone. */
  @Nullable BridgedGroup heirOf(BridgedGroup old) {
    Gid address = old.settings().address();
    Served heir = groups.find(address.high(), address.low());
    return heir == null ? null : heir.group();
  }

  private static LoopRules rules(
      BridgeConfig config, List<Gid> bridges, List<? extends FabricPort> fabrics, int side) {
    List<Gid> own = new ArrayList<>(fabrics.get(side).ownAddresses());
    own.addAll(config.standIns().addressesIn(side));
    return new LoopRules(own, bridges, prefixes(config, fabrics, side));
  }

  /** Of a fabric's hosts: those of the configuration, or else of the interface. */
  static List<LoopRules.Prefix> prefixes(
      BridgeConfig config, List<? extends FabricPort> fabrics, int side) {
    List<LoopRules.Prefix> configured = config.prefixes().get(side);
    return configured.isEmpty() ? fabrics.get(side).ownPrefixes() : configured;
  }
}
