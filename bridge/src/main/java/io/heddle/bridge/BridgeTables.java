package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.pgm.PgmSessions;
import io.heddle.bridge.table.AddressTable;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Immutable tables that the data thread forwards by. Other threads replace them when the
 * configuration or the ownership of groups changes.
 *
 * @param groups groups with their forwarding gates, by address
 * @param rules filters by source address, for packets from fabric a and for those from fabric b
 * @param links rate limits of the packets into fabric a and of those into fabric b
 * @param proxyAddresses addresses of the bridge that represent hosts of the other fabric
 * @param pgm observed PGM sessions (RFC 3208); null if no group ever carried PGM
 * @param retired groups of the previous tables that were removed or replaced
 * @param inUse latch that the data thread counts down once it uses these tables
 */
record BridgeTables(
    AddressTable<GatedGroup> groups,
    List<LoopRules> rules,
    List<RateLimit> links,
    ProxyAddresses proxyAddresses,
    @Nullable PgmSessions pgm,
    List<BridgedGroup> retired,
    CountDownLatch inUse) {
  static BridgeTables of(
      BridgeConfig config,
      List<? extends FabricPort> fabrics,
      Map<Gid, GatedGroup> groups,
      List<Gid> otherBridges,
      @Nullable PgmSessions pgm,
      List<BridgedGroup> retired) {
    List<Gid> bridges = new ArrayList<>(config.bridges());
    bridges.addAll(otherBridges);
    return new BridgeTables(
        new AddressTable<>(groups),
        List.of(rules(config, bridges, fabrics, 0), rules(config, bridges, fabrics, 1)),
        config.links(),
        config.proxyAddresses(),
        pgm,
        List.copyOf(retired),
        new CountDownLatch(1));
  }

  /** Returns the replacement of a retired group; null if the group was removed. */
  @Nullable BridgedGroup replacementOf(BridgedGroup old) {
    Gid address = old.settings().address();
    GatedGroup heir = groups.find(address.high(), address.low());
    return heir == null ? null : heir.group();
  }

  private static LoopRules rules(
      BridgeConfig config, List<Gid> bridges, List<? extends FabricPort> fabrics, int side) {
    List<Gid> own = new ArrayList<>(fabrics.get(side).ownAddresses());
    own.addAll(config.proxyAddresses().addressesIn(side));
    return new LoopRules(own, bridges, prefixes(config, fabrics, side));
  }

  /**
   * Returns the prefixes of a fabric's hosts: from the configuration, or else from the interface.
   */
  static List<LoopRules.Prefix> prefixes(
      BridgeConfig config, List<? extends FabricPort> fabrics, int side) {
    List<LoopRules.Prefix> configured = config.prefixes().get(side);
    return configured.isEmpty() ? fabrics.get(side).ownPrefixes() : configured;
  }
}
