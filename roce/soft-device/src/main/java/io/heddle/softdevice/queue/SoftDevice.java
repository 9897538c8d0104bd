package io.heddle.softdevice.queue;

import io.heddle.addr.RocePorts;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import java.lang.foreign.Arena;
import java.util.function.Function;

/** Single device of the soft provider. */
public final class SoftDevice implements RdmaDevice {
  private final SoftPort port;
  private final boolean standardPeers;
  private final RocePorts ports;
  private final SourcePorts sourcePorts;
  private final Log log;
  private final LeakLedger ledger;
  private final Function<Arena, PacketGate> gates;

  /**
   * @param standardPeers whether other soft devices are treated as standard ones
   * @param ports ports to receive on, one per address
   * @param sourcePorts source ports of packets
   * @param gates creates a context's packet gate in its arena
   */
  public SoftDevice(
      SoftPort port,
      boolean standardPeers,
      RocePorts ports,
      SourcePorts sourcePorts,
      Log log,
      LeakLedger ledger,
      Function<Arena, PacketGate> gates) {
    this.port = port;
    this.standardPeers = standardPeers;
    this.ports = ports;
    this.sourcePorts = sourcePorts;
    this.log = log;
    this.ledger = ledger;
    this.gates = gates;
  }

  @Override
  public String name() {
    return "soft0";
  }

  @Override
  public DeviceContext open() {
    Arena arena = Arena.ofShared();
    SoftContext context;
    try {
      PacketGate gate = gates.apply(arena);
      context =
          new SoftContext(this, port, standardPeers, ports, sourcePorts, log, ledger, arena, gate);
    } catch (RuntimeException | Error refused) {
      arena.close();
      throw refused;
    }
    ledger.opened("soft device context");
    return context;
  }
}
