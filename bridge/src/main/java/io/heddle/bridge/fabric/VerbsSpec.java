package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * Configuration of a fabric on a port of libibverbs.
 *
 * @param name name of the fabric
 * @param device name of the device in libibverbs, with {@code :port} if it has several ports
 * @param addresses the bridge's addresses to use, IPv4 in mapped form; empty for all addresses of
 *     the port
 * @param proxyAddresses proxy addresses that represent hosts of the other fabric
 * @param queuePairs number of queue pairs for the mapping of hosts' queue pair numbers; 0 if
 *     unicast is off
 * @param hops time to live of sent packets, 1 to 255
 */
public record VerbsSpec(
    String name,
    String device,
    List<Gid> addresses,
    List<Gid> proxyAddresses,
    int queuePairs,
    int hops)
    implements FabricSpec {
  @Override
  public String end() {
    return device;
  }

  @Override
  public boolean isSameEnd(FabricSpec other) {
    return other instanceof VerbsSpec verbs && device.equals(verbs.device);
  }

  /** Returns a copy with these proxy addresses, and this number of queue pairs for the mapping. */
  public VerbsSpec mapping(List<Gid> others, int pairs) {
    return new VerbsSpec(name, device, addresses, List.copyOf(others), pairs, hops);
  }
}
