package io.heddle.bridge.unicast;

import io.heddle.bridge.group.GroupTable;
import io.heddle.verbs.Gid;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses of the bridge stand for which hosts. Immutable: the control thread makes another
 * one when the configuration changes. Two with the same lines are equal.
 */
public final class StandIns {
  /** Of a bridge whose hosts see each other's own addresses. */
  public static final StandIns NONE = new StandIns(List.of());

  private final List<StandIn> all;
  /* By the fabric that an address is in. */
  private final List<GroupTable<Gid>> hosts;
  /* By the fabric that a host is in. */
  private final List<GroupTable<Gid>> addresses;

  /**
   * @param all with each address once, and each host once
   */
  public StandIns(List<StandIn> all) {
    this.all = List.copyOf(all);
    hosts = List.of(hosts(0), hosts(1));
    addresses = List.of(addresses(0), addresses(1));
  }

  private GroupTable<Gid> hosts(int side) {
    Map<Gid, Gid> table = new LinkedHashMap<>();
    all.stream()
        .filter(each -> each.side() == side)
        .forEach(each -> table.put(each.address(), each.host()));
    return new GroupTable<>(table);
  }

  private GroupTable<Gid> addresses(int side) {
    Map<Gid, Gid> table = new LinkedHashMap<>();
    all.stream()
        .filter(each -> each.side() != side)
        .forEach(each -> table.put(each.host(), each.address()));
    return new GroupTable<>(table);
  }

  /** The host of the other fabric that an address in this one stands for; null for none. */
  @Nullable Gid hostOf(int side, long addressHigh, long addressLow) {
    return hosts.get(side).find(addressHigh, addressLow);
  }

  /** The address in the other fabric that stands for a host of this one; null for none. */
  @Nullable Gid addressOf(int side, long hostHigh, long hostLow) {
    return addresses.get(side).find(hostHigh, hostLow);
  }

  /** The bridge's addresses in a fabric that stand for hosts. */
  public List<Gid> addressesIn(int side) {
    return all.stream().filter(each -> each.side() == side).map(StandIn::address).toList();
  }

  /** In the order of the file. */
  public List<StandIn> all() {
    return all;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StandIns others && others.all.equals(all);
  }

  @Override
  public int hashCode() {
    return all.hashCode();
  }
}
