package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * Configuration of a wire fabric.
 *
 * @param name name of the fabric
 * @param interfaceName name of the network interface in the fabric
 * @param namespace network namespace of the interface; empty for the bridge's own
 * @param addresses the bridge's addresses to use, IPv4 in mapped form; empty for all addresses of
 *     the interface
 * @param proxyAddresses proxy addresses that represent hosts of the other fabric
 * @param hops time to live of sent packets, 1 to 255
 * @param trains whether IPv4 packets may be sent as segment trains
 */
public record WireSpec(
    String name,
    String interfaceName,
    String namespace,
    List<Gid> addresses,
    List<Gid> proxyAddresses,
    int hops,
    boolean trains)
    implements FabricSpec {
  @Override
  public String end() {
    return interfaceName;
  }

  @Override
  public boolean isSameEnd(FabricSpec other) {
    return other instanceof WireSpec wire
        && interfaceName.equals(wire.interfaceName)
        && namespace.equals(wire.namespace);
  }

  /** Returns a copy with other proxy addresses. */
  public WireSpec withProxyAddresses(List<Gid> others) {
    return new WireSpec(name, interfaceName, namespace, addresses, others, hops, trains);
  }
}
