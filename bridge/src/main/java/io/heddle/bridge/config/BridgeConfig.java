package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.group.GroupSettings;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.group.RateLimit;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.StandIns;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bridge's configuration.
 *
 * @param name of the bridge, for people
 * @param status where its status file is
 * @param control where its socket for orders is, with redundancy
 * @param core the processor that its data thread spins on; {@link #NO_CORE} where it sleeps
 * @param fabrics both, a first
 * @param prefixes of the hosts of each fabric, as far as they are configured
 * @param links limits of what leaves for fabric a and b
 * @param bridges addresses of other bridges
 * @param groups in the order of the file
 * @param unicast how datagrams for one host are bridged; null where they aren't
 * @param redundancy how it takes part among others; null where it is alone
 */
public record BridgeConfig(
    String name,
    Path status,
    Path control,
    int core,
    List<FabricSpec> fabrics,
    List<List<LoopRules.Prefix>> prefixes,
    List<RateLimit> links,
    List<Gid> bridges,
    List<GroupSettings> groups,
    @Nullable UnicastSettings unicast,
    @Nullable PeerSettings redundancy) {
  /** The bridges that own groups by configuration, by group. */
  public Map<Gid, Integer> owners() {
    Map<Gid, Integer> owners = new LinkedHashMap<>();
    for (GroupSettings each : groups) {
      if (each.owner() != 0) {
        owners.put(each.address(), each.owner());
      }
    }
    return owners;
  }

  /** Addresses that stand for hosts. */
  public StandIns standIns() {
    return unicast == null ? StandIns.NONE : unicast.standIns();
  }

  /** Whether hosts see each other's own addresses. */
  public boolean isTransparent() {
    return unicast != null && unicast.isTransparent();
  }

  /** Where a bridge's status is unless said otherwise. */
  public static final Path STATUS = Path.of("/run/heddle-bridge/bridge.status");

  /** No processor is named. */
  public static final int NO_CORE = -1;

  /** Where it takes orders unless said otherwise. */
  public static final Path CONTROL = Path.of("/run/heddle-bridge/bridge.sock");
}
