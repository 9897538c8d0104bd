package io.heddle.addr;

import java.net.InetAddress;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Addresses of a host, and all settings that determine the planes of its devices. The planes of
 * each device are found separately. If several adapters are on the same planes, each adapter has
 * its own address on every plane. An unused adapter must not change the keys of the others' planes.
 *
 * @param host snapshot of the host's interfaces and addresses
 * @param rules the operator's rules
 * @param filter filter of the addresses that planes may use
 * @param daemonKeys keys that the route daemon gives to planes, by this host's addresses
 */
public record HostPlanes(
    HostAddresses host,
    PlaneRules rules,
    AddressFilter filter,
    Map<InetAddress, String> daemonKeys) {
  public HostPlanes {
    daemonKeys = Map.copyOf(daemonKeys);
  }

  /** Finds the planes as if one device had every address of the host. */
  public PlaneDiscovery.Result ofAll() {
    return PlaneDiscovery.discover(host, rules, filter, daemonKeys);
  }

  /**
   * Finds the planes of one device.
   *
   * @param device name of the device, for log lines
   * @param carries returns whether an address belongs to the device
   */
  public PlaneDiscovery.Result of(String device, Predicate<InetAddress> carries) {
    return PlaneDiscovery.discover(host, rules, filter.forDevice(device, carries), daemonKeys);
  }
}
