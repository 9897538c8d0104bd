package io.heddle.addr;

import java.net.InetAddress;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A host's addresses and all that is told about them, from which each device's planes are found.
 * Devices are looked at one by one: of several adapters on the same planes each has an address of
 * its own on every one, and an adapter that isn't used has no say in how planes are called.
 *
 * @param host the snapshot
 * @param rules the operator's
 * @param filter which addresses may be planes at all
 * @param told keys that the route daemon has for addresses
 */
public record HostPlanes(
    HostAddresses host, PlaneRules rules, AddressFilter filter, Map<InetAddress, String> told) {
  public HostPlanes {
    told = Map.copyOf(told);
  }

  /** As for one device that has every address of the host. */
  public PlaneDiscovery.Result ofAll() {
    return PlaneDiscovery.discover(host, rules, filter, told);
  }

  /**
   * The planes of one device.
   *
   * @param device for people
   * @param carries whether an address is one of the device's
   */
  public PlaneDiscovery.Result of(String device, Predicate<InetAddress> carries) {
    return PlaneDiscovery.discover(host, rules, filter.within(device, carries), told);
  }
}
