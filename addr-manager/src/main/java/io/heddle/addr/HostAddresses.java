package io.heddle.addr;

import io.heddle.platform.SystemCallException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of the interfaces and addresses in this process's network namespace.
 *
 * @param links by index
 * @param addresses by interface, then address; every one belongs to one of the links
 */
public record HostAddresses(List<NetworkLink> links, List<AssignedAddress> addresses) {
  private static final String BRIDGE = "bridge";

  public HostAddresses {
    links =
        links.stream()
            .sorted((left, right) -> Integer.compare(left.index(), right.index()))
            .toList();
    addresses = addresses.stream().sorted(AssignedAddress::byInterface).toList();
  }

  /**
   * Asks the kernel. An address whose interface came into being between the two questions is left
   * out; an {@link AddressWatcher} opened before tells of it.
   *
   * @throws SystemCallException when netlink can't be used
   */
  public static HostAddresses read() {
    try (RtnetlinkSocket socket = RtnetlinkSocket.open(0)) {
      List<NetworkLink> links = new ArrayList<>();
      for (AddressEvent event : socket.dump(Rtnetlink.RTM_GETLINK)) {
        if (event instanceof AddressEvent.LinkChanged changed) {
          links.add(changed.link());
        }
      }
      List<AssignedAddress> addresses = new ArrayList<>();
      for (AddressEvent event : socket.dump(Rtnetlink.RTM_GETADDR)) {
        if (event instanceof AddressEvent.AddressChanged changed
            && links.stream()
                .anyMatch(link -> link.index() == changed.address().interfaceIndex())) {
          addresses.add(changed.address());
        }
      }
      return new HostAddresses(links, addresses);
    }
  }

  /**
   * @throws IllegalArgumentException for an index that the snapshot doesn't have
   */
  public NetworkLink link(int index) {
    for (NetworkLink link : links) {
      if (link.index() == index) {
        return link;
      }
    }
    throw new IllegalArgumentException("no interface has index " + index);
  }

  public NetworkLink linkOf(AssignedAddress address) {
    return link(address.interfaceIndex());
  }

  /** The same host as it is where an address that the filter holds back doesn't exist. */
  public HostAddresses passing(AddressFilter filter) {
    return new HostAddresses(
        links, addresses.stream().filter(each -> filter.whyNot(each.address()).isEmpty()).toList());
  }

  /** Addresses that nothing speaks against, in order: of IPv6, or of IPv4 where there is none. */
  public List<AssignedAddress> usable() {
    return addresses.stream().filter(address -> whyUnusable(address).isEmpty()).toList();
  }

  /** What speaks against using this address as it is; the most lasting reason first. */
  public Optional<Unusable> whyUnusable(AssignedAddress assigned) {
    NetworkLink link = linkOf(assigned);
    if (link.isOfContainers() && !link.loopback()) {
      return Optional.of(Unusable.CONTAINERS);
    }
    Optional<Unusable> why = whyUnusableThoughInterfaceNamed(assigned);
    return why.isEmpty() && assigned.address() instanceof Inet4Address && link.kind().equals(BRIDGE)
        ? Optional.of(Unusable.BRIDGE)
        : why;
  }

  /** The same for an address whose interface the operator named: it may be any bridge. */
  Optional<Unusable> whyUnusableThoughInterfaceNamed(AssignedAddress assigned) {
    InetAddress address = assigned.address();
    if (linkOf(assigned).loopback() || address.isLoopbackAddress()) {
      return Optional.of(Unusable.LOOPBACK);
    }
    if (address instanceof Inet4Address && hasIpv6()) {
      return Optional.of(Unusable.IPV4);
    }
    return whyUnusableThoughNamed(assigned);
  }

  /* In whatever state: planes of IPv6 that are down for now must not become others of IPv4. */
  private boolean hasIpv6() {
    return addresses.stream()
        .anyMatch(each ->
            each.address() instanceof Inet6Address address
                && !address.isLinkLocalAddress()
                && !address.isMulticastAddress()
                && !address.isAnyLocalAddress()
                && !address.isLoopbackAddress()
                && !linkOf(each).loopback()
                && !linkOf(each).isOfContainers());
  }

  /** The same for an address that the operator named: loopback and IPv4 are then allowed. */
  Optional<Unusable> whyUnusableThoughNamed(AssignedAddress assigned) {
    InetAddress address = assigned.address();
    NetworkLink link = linkOf(assigned);
    if (address.isLinkLocalAddress()) {
      return Optional.of(Unusable.LINK_LOCAL);
    }
    if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
      return Optional.of(Unusable.MULTICAST_OR_UNSPECIFIED);
    }
    if (assigned.has(AddressFlag.DUPLICATE)) {
      return Optional.of(Unusable.DUPLICATE);
    }
    if (assigned.has(AddressFlag.TENTATIVE) && !assigned.has(AddressFlag.OPTIMISTIC)) {
      return Optional.of(Unusable.TENTATIVE);
    }
    if (assigned.has(AddressFlag.DEPRECATED)) {
      return Optional.of(Unusable.DEPRECATED);
    }
    if (assigned.has(AddressFlag.TEMPORARY)) {
      return Optional.of(Unusable.TEMPORARY);
    }
    return link.isUp() ? Optional.empty() : Optional.of(Unusable.LINK_DOWN);
  }
}
