package io.heddle.bridge.verbs;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lookup of the network interface of a libibverbs port. */
final class PortLink {
  private static final int IPV4_BITS = 96;

  private PortLink() {}

  /** Returns the interface of an IPoIB address; null if it isn't in this network namespace. */
  static @Nullable NetworkLink of(Gid address, HostAddresses host) {
    for (AssignedAddress each : host.addresses()) {
      if (Gid.of(each.address()).equals(address)) {
        return host.link(each.interfaceIndex());
      }
    }
    return null;
  }

  /**
   * Returns the interface of a RoCE port; null if it is in another network namespace. Addresses are
   * compared, since an interface of this namespace may have the same index.
   */
  static @Nullable NetworkLink of(VerbsPort port, HostAddresses host) {
    for (NetworkLink each : host.links()) {
      if (carries(each, port, host)) {
        return each;
      }
    }
    return null;
  }

  private static boolean carries(NetworkLink link, VerbsPort port, HostAddresses host) {
    for (AssignedAddress each : host.addresses()) {
      if (each.interfaceIndex() == link.index()
          && port.interfaceOf(Gid.of(each.address())) == link.index()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the prefixes of the interface's addresses. */
  static List<LoopRules.Prefix> prefixes(@Nullable NetworkLink link, HostAddresses host) {
    List<LoopRules.Prefix> prefixes = new ArrayList<>();
    for (AssignedAddress each : host.addresses()) {
      if (link != null && each.interfaceIndex() == link.index()) {
        Gid address = Gid.of(each.address());
        int bits = each.prefixLength() + (address.isIpv4Mapped() ? IPV4_BITS : 0);
        prefixes.add(new LoopRules.Prefix(address, bits));
      }
    }
    return List.copyOf(prefixes);
  }
}
