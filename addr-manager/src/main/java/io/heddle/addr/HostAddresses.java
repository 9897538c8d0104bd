package io.heddle.addr;

import io.heddle.platform.SystemCallException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Snapshot of the interfaces and addresses in this process's network namespace.
 *
 * @param links the interfaces, in order of their indexes
 * @param addresses the addresses, in order of interface, then of address; each belongs to one of
 *     the links
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
   * Takes a snapshot. Interfaces and addresses are requested one after the other. An address whose
   * interface appeared in between is left out; an {@link AddressWatcher} that was opened before
   * reports it.
   *
   * @throws SystemCallException if netlink can't be used
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
   * Returns the interface with this index.
   *
   * @throws IllegalArgumentException if the snapshot has no interface with this index
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

  /** Returns the snapshot without the addresses that the filter excludes. */
  public HostAddresses filteredBy(AddressFilter filter) {
    return new HostAddresses(
        links,
        addresses.stream()
            .filter(each -> filter.reasonExcluded(each.address()).isEmpty())
            .toList());
  }

  /**
   * Returns the usable addresses in order: IPv6 addresses, or IPv4 addresses if the host has no
   * IPv6 address.
   */
  public List<AssignedAddress> usable() {
    return addresses.stream().filter(address -> reasonUnusable(address).isEmpty()).toList();
  }

  /**
   * Returns the reason why this address can't be used at present; empty if it can. If there are
   * several reasons, returns the most permanent one.
   */
  public Optional<UnusableReason> reasonUnusable(AssignedAddress assigned) {
    NetworkLink link = linkOf(assigned);
    if (link.isContainerInterface() && !link.loopback()) {
      return Optional.of(UnusableReason.CONTAINERS);
    }
    Optional<UnusableReason> why = reasonUnusableIfInterfaceNamed(assigned);
    return why.isEmpty() && assigned.address() instanceof Inet4Address && link.kind().equals(BRIDGE)
        ? Optional.of(UnusableReason.BRIDGE)
        : why;
  }

  /**
   * Returns the reason as {@link #reasonUnusable} does, for an address whose interface the operator
   * named. Such an interface may be a bridge or an interface of containers.
   */
  Optional<UnusableReason> reasonUnusableIfInterfaceNamed(AssignedAddress assigned) {
    InetAddress address = assigned.address();
    if (linkOf(assigned).loopback() || address.isLoopbackAddress()) {
      return Optional.of(UnusableReason.LOOPBACK);
    }
    if (address instanceof Inet4Address && hasIpv6()) {
      return Optional.of(UnusableReason.IPV4);
    }
    return reasonUnusableIfNamed(assigned);
  }

  /*
   * Returns whether the host has IPv6 addresses, in any state: IPv4 planes must not replace IPv6
   * planes that are only down for now.
   */
  private boolean hasIpv6() {
    return addresses.stream()
        .anyMatch(each ->
            each.address() instanceof Inet6Address address
                && !address.isLinkLocalAddress()
                && !address.isMulticastAddress()
                && !address.isAnyLocalAddress()
                && !address.isLoopbackAddress()
                && !linkOf(each).loopback()
                && !linkOf(each).isContainerInterface());
  }

  /**
   * Returns the reason as {@link #reasonUnusable} does, for an address that the operator named.
   * Such an address may be a loopback address, or an IPv4 address on a host with IPv6.
   */
  Optional<UnusableReason> reasonUnusableIfNamed(AssignedAddress assigned) {
    InetAddress address = assigned.address();
    NetworkLink link = linkOf(assigned);
    if (address.isLinkLocalAddress()) {
      return Optional.of(UnusableReason.LINK_LOCAL);
    }
    if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
      return Optional.of(UnusableReason.MULTICAST_OR_UNSPECIFIED);
    }
    if (assigned.has(AddressFlag.DUPLICATE)) {
      return Optional.of(UnusableReason.DUPLICATE);
    }
    if (assigned.has(AddressFlag.TENTATIVE) && !assigned.has(AddressFlag.OPTIMISTIC)) {
      return Optional.of(UnusableReason.TENTATIVE);
    }
    if (assigned.has(AddressFlag.DEPRECATED)) {
      return Optional.of(UnusableReason.DEPRECATED);
    }
    if (assigned.has(AddressFlag.TEMPORARY)) {
      return Optional.of(UnusableReason.TEMPORARY);
    }
    return link.isUp() ? Optional.empty() : Optional.of(UnusableReason.LINK_DOWN);
  }
}
