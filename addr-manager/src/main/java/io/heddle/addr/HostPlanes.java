package io.heddle.addr;

import java.net.InetAddress;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Host's addresses and all settings from which each device's planes are found. Devices are examined
 * one by one. If several adapters are on the same planes, each has an address of its own on every
 * plane. An unused adapter has no influence on the planes' keys.
 *
 * @param host the snapshot
 * @param rules the operator's rules
 * @param filter addresses that may be planes at all
 * @param daemonKeys the route daemon's keys of addresses
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
   * @param device name for messages
   * @param carries whether an address is one of the device's
   */
  public PlaneDiscovery.Result of(String device, Predicate<InetAddress> carries) {
    return PlaneDiscovery.discover(host, rules, filter.forDevice(device, carries), daemonKeys);
  }
}
