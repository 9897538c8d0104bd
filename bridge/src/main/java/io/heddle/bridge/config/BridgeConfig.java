package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.daemon.ConfigText;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a bridge.
 *
 * @param text text that the configuration was parsed from
 * @param name name of the bridge, for people
 * @param status path of the bridge's status file
 * @param control path of the bridge's control socket, for operators' orders
 * @param core processor that the data thread spins on; {@link #NO_CORE} if it sleeps instead
 * @param fabrics fabric a, then fabric b
 * @param prefixes prefixes of each fabric's hosts; an empty list if none is configured
 * @param links rate limits of the packets into fabric a and of those into fabric b
 * @param bridges addresses of other bridges
 * @param groups groups in the order of the file
 * @param unicast settings of unicast forwarding; null if it is off
 * @param redundancy settings of redundancy among several bridges; null for a single bridge
 */
public record BridgeConfig(
    ConfigText text,
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
  /**
   * Returns the number of the bridge that is configured to own each group. Groups without a
   * configured owner are absent.
   */
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

  /** Value of {@code core} if no processor is configured. */
  public static final int NO_CORE = -1;

  /** Default path of the control socket. */
  public static final Path CONTROL = Path.of("/run/heddle-bridge/bridge.sock");
}
