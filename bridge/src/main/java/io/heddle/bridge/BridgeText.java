package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.multicast.FlowDirection;
import java.util.Collection;
import java.util.List;

/** One-line description of a bridge, for its log. */
final class BridgeText {
  private BridgeText() {}

  static String of(BridgeConfig config, List<FabricPort> fabrics, Collection<BridgedGroup> groups) {
    long both = groups.stream().filter(each -> each.direction() == FlowDirection.BOTH).count();
    return "fabric a: "
        + fabrics.getFirst().describe()
        + "; fabric b: "
        + fabrics.getLast().describe()
        + "; "
        + groups.size()
        + " groups, "
        + both
        + " of them in both directions; unicast "
        + (config.unicast() == null ? "off" : config.unicast().describe())
        + "; redundancy "
        + (config.redundancy() == null ? "off" : config.redundancy())
        + (config.core() == BridgeConfig.NO_CORE ? "" : "; spins on processor " + config.core())
        + "; status at "
        + config.status();
  }
}
