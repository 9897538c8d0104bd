package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** This host's addresses and ports, as far as the daemon needs them. */
final class OwnAddresses {
  private static final long BITS_PER_MEGABIT = 1_000_000;

  private final HostAddresses host;
  private final List<AssignedAddress> usable;

  OwnAddresses(HostAddresses host) {
    this.host = host;
    usable = new ArrayList<>(ofKind(true).usable());
    /*
     * Includes IPv4 addresses even if the host also has IPv6, since each IPv4 peer is configured
     * explicitly.
     */
    usable.addAll(ofKind(false).usable());
  }

  private HostAddresses ofKind(boolean ipv6) {
    return new HostAddresses(
        host.links(),
        host.addresses().stream().filter(each -> isIpv6(each.address()) == ipv6).toList());
  }

  /**
   * Returns the usable addresses of these families on an interface. They are in order: IPv6 before
   * IPv4, EUI-64 addresses before others, then by value.
   */
  List<InetAddress> on(String interfaceName, Families families) {
    List<AssignedAddress> found = new ArrayList<>();
    for (AssignedAddress address : usable) {
      boolean spoken = isIpv6(address.address()) ? families.ipv6Unicast() : families.ipv4Unicast();
      if (spoken && host.linkOf(address).name().equals(interfaceName)) {
        found.add(address);
      }
    }
    found.sort(
        Comparator.<AssignedAddress, Boolean>comparing(each -> !isIpv6(each.address()))
            .thenComparing(each -> !each.isEui64())
            .thenComparing(AssignedAddress::address, AddressText.ORDER));
    return found.stream().map(AssignedAddress::address).toList();
  }

  private static boolean isIpv6(InetAddress address) {
    return address instanceof Inet6Address;
  }

  /**
   * Returns the rate of an interface's port in Mbit/s; 0 if unknown. A virtual interface has no
   * rate, since the speed that it reports is meaningless.
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

  /**
   * Returns the interface that has an address in the same subnet as {@code other}; null if there is
   * none.
   */
  @Nullable String linkTowards(InetAddress other) {
    for (AssignedAddress address : usable) {
      if (Prefix.of(address.address(), address.prefixLength()).covers(Prefix.host(other))) {
        return host.linkOf(address).name();
      }
    }
    return null;
  }

  boolean hasLink(String interfaceName) {
    return host.links().stream().anyMatch(link -> link.name().equals(interfaceName));
  }

  /**
   * Returns a BGP identifier for this host: a hash of its usable IPv6 addresses, or of its IPv4
   * addresses if it has no IPv6 address.
   */
  int routerId() {
    int hash = 1;
    boolean ipv6 = usable.stream().anyMatch(each -> isIpv6(each.address()));
    for (AssignedAddress address : usable) {
      if (isIpv6(address.address()) != ipv6) {
        continue;
      }
      hash = 31 * hash + java.util.Arrays.hashCode(address.address().getAddress());
    }
    return hash == 0 ? 1 : hash;
  }
}
