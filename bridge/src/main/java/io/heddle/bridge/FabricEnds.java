package io.heddle.bridge;

import io.heddle.bridge.fabric.BeaconSocket;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.VerbsFabric;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireFabric;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;

/** Opens the bridge's ends in fabrics, each by its kind. */
final class FabricEnds {
  private FabricEnds() {}

  /**
   * @param transparent whether packets leave from other hosts' addresses too
   * @throws HeddleException where it can't be opened, with the reason
   */
  static FabricPort open(FabricSpec spec, boolean transparent, SystemClock clock, Log log) {
    return switch (spec) {
      case WireSpec wire -> WireFabric.open(wire, transparent, clock);
      case VerbsSpec verbs -> VerbsFabric.open(verbs, log);
    };
  }

  /** Opens what beacons go and come by. */
  static BeaconSocket beacons(FabricPort fabric, FabricSpec spec, PeerSettings settings) {
    if (fabric instanceof WireFabric wire) {
      return wire.beacons(settings, spec.hops());
    }
    throw new HeddleException(
        "fabric " + spec.name() + ": beacons need an interface; a fabric of kind wire has one");
  }
}
