package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What of this host's addresses and ports concerns the daemon. */
final class OwnAddresses {
  private static final long BITS_PER_MEGABIT = 1_000_000;

  private final HostAddresses host;
  private final List<AssignedAddress> usable;

  OwnAddresses(HostAddresses host) {
    this.host = host;
    usable = host.usable().stream().filter(each -> each.address() instanceof Inet6Address).toList();
  }

  /** Usable addresses on an interface: EUI-64 before others, then by value. */
  List<Inet6Address> on(String interfaceName) {
    List<AssignedAddress> found = new ArrayList<>();
    for (AssignedAddress address : usable) {
      if (host.linkOf(address).name().equals(interfaceName)) {
        found.add(address);
      }
    }
    found.sort(
        Comparator.<AssignedAddress, Boolean>comparing(each -> !each.isEui64())
            .thenComparing(AssignedAddress::address, AddressText.ORDER));
    return found.stream().map(each -> (Inet6Address) each.address()).toList();
  }

  /**
   * Rate of an interface's port in Mbit/s; 0 where it isn't known. What a virtual interface says of
   * its speed means nothing.
   */
  long rateMbps(String interfaceName) {
    for (NetworkLink link : host.links()) {
      if (link.name().equals(interfaceName)
          && Files.exists(Path.of("/sys/class/net", interfaceName, "device"))) {
        return link.speedBitsPerSecond() / BITS_PER_MEGABIT;
      }
    }
    return 0;
  }

  /** The interface that has an address in one subnet with another's; null where none has. */
  @Nullable String linkTowards(Inet6Address other) {
    for (AssignedAddress address : usable) {
      if (address.address() instanceof Inet6Address own
          && Prefix.of(own, address.prefixLength()).covers(Prefix.of(other, Prefix.MAX_LENGTH))) {
        return host.linkOf(address).name();
      }
    }
    return null;
  }

  boolean hasLink(String interfaceName) {
    return host.links().stream().anyMatch(link -> link.name().equals(interfaceName));
  }

  /** An identifier that is this host's own, from its first usable address. */
  int routerId() {
    int hash = 1;
    for (AssignedAddress address : usable) {
      hash = 31 * hash + java.util.Arrays.hashCode(address.address().getAddress());
    }
    return hash == 0 ? 1 : hash;
  }
}
