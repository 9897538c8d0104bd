package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.infiniband.RdmaCmSidrService;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.redundancy.BeaconSocket;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.bridge.unicast.MappedEnd;
import io.heddle.bridge.unicast.MappedForwarder;
import io.heddle.bridge.unicast.PrefixOverlap;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastForwarder;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.verbs.QueuePairPort;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.bridge.wire.WireFabric;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/** Factory and checks of the bridge's ports, by the kind of fabric. */
final class FabricPorts {
  private FabricPorts() {}

  /**
   * @param transparent whether packets are also sent from other hosts' addresses
   * @param counters address of the fabric's counters in the status file
   * @throws HeddleException if the port can't be opened, with the reason
   */
  static FabricPort open(
      FabricSpec spec, boolean transparent, SystemClock clock, Log log, long counters) {
    return switch (spec) {
      case WireSpec wire -> WireFabric.open(wire, transparent, clock, counters);
      case VerbsSpec verbs -> VerbsFabric.open(verbs, log, counters);
    };
  }

  /**
   * Creates the forwarder of unicast datagrams.
   *
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   */
  static HostForwarder hosts(
      Arena arena,
      BridgeConfig config,
      List<? extends FabricPort> fabrics,
      UnicastSettings settings,
      long[] counters,
      Limiter limiter,
      Log log) {
    QueuePairMapping mapping = settings.mapping();
    SecureRandom ids = new SecureRandom();
    if (mapping == null) {
      return new UnicastForwarder(arena, fabrics, settings, counters, limiter, ids);
    }
    List<MappedEnd> ends = new ArrayList<>();
    try {
      for (int side = 0; side < fabrics.size(); side++) {
        String device = config.fabrics().get(side).end();
        ends.add(mappedEnd(fabrics.get(side), device, settings.trafficClass(), log));
      }
      return new MappedForwarder(
          arena, ends.getFirst(), ends.getLast(), settings, mapping, counters, limiter, ids);
    } catch (RuntimeException refused) {
      ends.forEach(MappedEnd::close);
      throw refused;
    }
  }

  private static MappedEnd mappedEnd(FabricPort fabric, String device, int trafficClass, Log log) {
    return fabric instanceof QueuePairPort port
        ? MappedEnd.ofDevice(
            port, RdmaCmSidrService.open(port, port.hosts(), device, trafficClass, log))
        : MappedEnd.ofSocket(fabric);
  }

  /**
   * Checks that the fabrics allow unicast forwarding as configured: their prefixes don't overlap,
   * which could cause loops, and the proxy addresses are assigned to the interfaces. Runs in the
   * calling thread's network namespace.
   *
   * @throws HeddleException if a check fails
   */
  static void requireUnicast(BridgeConfig config, List<? extends FabricPort> fabrics) {
    if (config.isTransparent()) {
      PrefixOverlap.refuse(
          "", BridgeTables.prefixes(config, fabrics, 0), BridgeTables.prefixes(config, fabrics, 1));
    }
    if (!config.proxyAddresses().all().isEmpty()) {
      for (int side = 0; side < fabrics.size(); side++) {
        FabricSpec spec = config.fabrics().get(side);
        if (spec instanceof WireSpec wire) {
          WireFabric.requireAssigned(wire);
        } else if (spec instanceof VerbsSpec verbs
            && fabrics.get(side) instanceof VerbsFabric port) {
          port.requireAssigned(verbs);
        }
      }
    }
  }

  /** Opens the socket that sends and receives beacons in a fabric. */
  static BeaconSocket beacons(FabricPort fabric, PeerSettings settings) {
    return switch (fabric) {
      case WireFabric wire -> wire.beacons(settings);
      case VerbsFabric verbs -> verbs.beacons(settings);
      default -> throw new IllegalStateException(fabric.describe() + " isn't opened here");
    };
  }
}
