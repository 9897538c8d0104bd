package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.infiniband.GroupJoin;
import io.heddle.bridge.infiniband.GroupRoute;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Join of groups on the network interface of a RoCE port, as for any socket: by IGMP and MLD. A
 * port without an interface in this network namespace joins nothing.
 */
final class InterfaceJoin implements GroupJoin {
  private final String interfaceName;
  private final @Nullable Memberships memberships;

  /** Creates the join of a port without interface, which announces nothing to the network. */
  InterfaceJoin() {
    interfaceName = "";
    memberships = null;
  }

  InterfaceJoin(String interfaceName, int interfaceIndex) {
    this.interfaceName = interfaceName;
    memberships = new Memberships(interfaceName, interfaceIndex);
  }

  @Override
  public String describe() {
    return memberships == null ? "the device alone" : "IGMP and MLD on " + interfaceName;
  }

  @Override
  public GroupRoute join(GroupAddress group) {
    if (memberships != null) {
      memberships.join(group.address());
    }
    return GroupRoute.ofEthernet(group.address());
  }

  @Override
  public void leave(Gid group) {
    if (memberships != null) {
      memberships.leave(group);
    }
  }

  @Override
  public String check() {
    return "";
  }

  @Override
  public void close() {
    if (memberships != null) {
      memberships.close();
    }
  }
}
