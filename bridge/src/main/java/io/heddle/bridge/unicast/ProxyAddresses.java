package io.heddle.bridge.unicast;

import io.heddle.bridge.table.AddressTable;
import io.heddle.verbs.Gid;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Map between addresses of the bridge and the hosts that they represent. Immutable: a changed
 * configuration has a new map. Maps with the same entries in the same order are equal.
 */
public final class ProxyAddresses {
  /** Empty map of a bridge whose hosts see each other's own addresses. */
  public static final ProxyAddresses NONE = new ProxyAddresses(List.of());

  private final List<ProxyAddress> all;
  /* Hosts by address, for the addresses in fabric a and for those in fabric b. */
  private final List<AddressTable<Gid>> hosts;
  /* Addresses by host, for the hosts in fabric a and for those in fabric b. */
  private final List<AddressTable<Gid>> addresses;

  /**
   * @param all entries, with each address once and each host once
   */
  public ProxyAddresses(List<ProxyAddress> all) {
    this.all = List.copyOf(all);
    hosts = List.of(hosts(0), hosts(1));
    addresses = List.of(addresses(0), addresses(1));
  }

  private AddressTable<Gid> hosts(int side) {
    Map<Gid, Gid> table = new LinkedHashMap<>();
    all.stream()
        .filter(each -> each.side() == side)
        .forEach(each -> table.put(each.address(), each.host()));
    return new AddressTable<>(table);
  }

  private AddressTable<Gid> addresses(int side) {
    Map<Gid, Gid> table = new LinkedHashMap<>();
    all.stream()
        .filter(each -> each.side() != side)
        .forEach(each -> table.put(each.host(), each.address()));
    return new AddressTable<>(table);
  }

  /** Returns the host of the other fabric that an address in this one represents; null for none. */
  @Nullable Gid hostOf(int side, long addressHigh, long addressLow) {
    return hosts.get(side).find(addressHigh, addressLow);
  }

  /** Returns the address in the other fabric that represents a host of this one; null for none. */
  @Nullable Gid addressOf(int side, long hostHigh, long hostLow) {
    return addresses.get(side).find(hostHigh, hostLow);
  }

  /** Returns the bridge's proxy addresses in a fabric. */
  public List<Gid> addressesIn(int side) {
    return all.stream().filter(each -> each.side() == side).map(ProxyAddress::address).toList();
  }

  /** Returns all entries in the order of the file. */
  public List<ProxyAddress> all() {
    return all;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ProxyAddresses others && others.all.equals(all);
  }

  @Override
  public int hashCode() {
    return all.hashCode();
  }
}
