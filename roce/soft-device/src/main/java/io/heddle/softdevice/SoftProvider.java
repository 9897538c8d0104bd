package io.heddle.softdevice;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.PlaneRules;
import io.heddle.addr.RocePorts;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.softdevice.faults.FaultGate;
import io.heddle.softdevice.faults.Faults;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;
import io.heddle.softdevice.queue.SoftDevice;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.List;
import java.util.Map;

/**
 * Provider {@code soft}: one device, {@code soft0}, on this host's addresses. It reads {@code
 * HEDDLE_PLANES} for addresses that aren't used by default (loopback, IPv4 beside IPv6), and {@code
 * NCCL_IB_ADDR_FAMILY} and {@code NCCL_IB_ADDR_RANGE}. These have the same meaning as for the
 * selection of planes.
 */
public final class SoftProvider implements VerbsProvider {
  private static final String PEERS = "HEDDLE_SOFT_PEERS";

  @Override
  public String name() {
    return "soft";
  }

  @Override
  public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger ledger) {
    SoftPort port =
        new SoftPort(
            PlaneRules.parse(environment.get("HEDDLE_PLANES")),
            AddressFilter.parse(
                environment.get(AddressFilter.RANGE_VARIABLE),
                environment.get(AddressFilter.FAMILY_VARIABLE)));
    Faults faults = Faults.parse(environment.get(Faults.VARIABLE));
    if (faults != null) {
      log.warn("soft0: %s is set: %s. Faults are injected into packets.", Faults.VARIABLE, faults);
    }
    return List.of(
        new SoftDevice(
            port,
            arePeersStandard(environment.getOrDefault(PEERS, "soft")),
            RocePorts.parse(environment.get(RocePorts.VARIABLE)),
            SourcePorts.parse(environment.get(SourcePorts.VARIABLE)),
            log,
            ledger,
            arena -> faults == null ? PacketGate.OPEN : new FaultGate(arena, faults)));
  }

  private static boolean arePeersStandard(String value) {
    return switch (value.strip()) {
      case "", "soft" -> false;
      case "standard" -> true;
      default ->
          throw new HeddleException("%s=%s: allowed are soft and standard".formatted(PEERS, value));
    };
  }
}
