package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.unicast.PrefixOverlap;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.bridge.wire.WireFabric;
import io.heddle.platform.HeddleException;
import java.util.List;

/** Check that the fabrics allow unicast forwarding as configured. */
final class UnicastCheck {
  private UnicastCheck() {}

  /**
   * Checks that the fabrics' prefixes don't overlap, which could cause loops, and that the proxy
   * addresses are assigned to the interfaces. Runs in the calling thread's network namespace.
   *
   * @throws HeddleException if a check fails
   */
  static void require(BridgeConfig config, List<? extends FabricPort> fabrics) {
    if (config.isTransparent()) {
      PrefixOverlap.refuse(
          "", BridgeTables.prefixes(config, fabrics, 0), BridgeTables.prefixes(config, fabrics, 1));
    }
    if (!config.proxyAddresses().all().isEmpty()) {
      for (int side = 0; side < config.fabrics().size(); side++) {
        requireAssigned(config.fabrics().get(side), fabrics.get(side));
      }
    }
  }

  private static void requireAssigned(FabricSpec spec, FabricPort fabric) {
    if (spec instanceof WireSpec wire) {
      WireFabric.requireAssigned(wire);
    } else if (spec instanceof VerbsSpec verbs && fabric instanceof VerbsFabric port) {
      port.requireAssigned(verbs);
    }
  }
}
