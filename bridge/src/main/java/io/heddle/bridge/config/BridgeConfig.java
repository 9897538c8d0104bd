package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.group.GroupSettings;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.group.RateLimit;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a bridge.
 *
 * @param name of the bridge, for people
 * @param status path of its status file
 * @param control path of its socket for operators' orders, with redundancy
 * @param core the processor that its data thread spins on; {@link #NO_CORE} where it sleeps
 * @param fabrics both, a first
 * @param prefixes of the hosts of each fabric, as far as they are configured
 * @param links limits of the packets that leave for fabric a and b
 * @param bridges addresses of other bridges
 * @param groups in the order of the file
 * @param unicast settings of unicast forwarding; null if it is off
 * @param redundancy settings among several bridges; null for a single bridge
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
  /** Returns the owners set by configuration, by group. */
  public Map<Gid, Integer> owners() {
    Map<Gid, Integer> owners = new LinkedHashMap<>();
    for (GroupSettings each : groups) {
      if (each.owner() != 0) {
        owners.put(each.address(), each.owner());
      }
    }
    return owners;
  }

  /** Returns the bridge's proxy addresses. */
  public ProxyAddresses proxyAddresses() {
    return unicast == null ? ProxyAddresses.NONE : unicast.proxyAddresses();
  }

  /** Returns whether hosts see each other's own addresses. */
  public boolean isTransparent() {
    return unicast != null && unicast.isTransparent();
  }

  /** Default path of the status file. */
  public static final Path STATUS = Path.of("/run/heddle-bridge/bridge.status");

  /** No processor is named. */
  public static final int NO_CORE = -1;

  /** Default path of the control socket. */
  public static final Path CONTROL = Path.of("/run/heddle-bridge/bridge.sock");
}
