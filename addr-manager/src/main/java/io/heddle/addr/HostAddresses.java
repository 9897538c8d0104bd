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
 * @param links by index
 * @param addresses by interface, then address; each belongs to one of the links
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
   * Takes a snapshot. An address whose interface appeared between the two requests is left out; an
   * {@link AddressWatcher} opened before reports it.
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

  /** Returns the snapshot without the addresses that the filter excludes. */
  public HostAddresses filteredBy(AddressFilter filter) {
    return new HostAddresses(
        links,
        addresses.stream()
            .filter(each -> filter.reasonExcluded(each.address()).isEmpty())
            .toList());
  }

  /** Returns the usable addresses in order: of IPv6, or of IPv4 if there are none of IPv6. */
  public List<AssignedAddress> usable() {
    return addresses.stream().filter(address -> reasonUnusable(address).isEmpty()).toList();
  }

  /** Returns the reason why this address can't be used as it is, the most permanent one first. */
  public Optional<UnusableReason> reasonUnusable(AssignedAddress assigned) {
    NetworkLink link = linkOf(assigned);
    if (link.isOfContainers() && !link.loopback()) {
      return Optional.of(UnusableReason.CONTAINERS);
    }
    Optional<UnusableReason> why = reasonUnusableIfInterfaceNamed(assigned);
    return why.isEmpty() && assigned.address() instanceof Inet4Address && link.kind().equals(BRIDGE)
        ? Optional.of(UnusableReason.BRIDGE)
        : why;
  }

  /**
   * As {@link #reasonUnusable}, for an address whose interface the operator named: it may be any
   * bridge.
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
   * Returns whether the host has IPv6 addresses in any state: IPv4 planes must not replace IPv6
   * ones that are only down for now.
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
                && !linkOf(each).isOfContainers());
  }

  /**
   * As {@link #reasonUnusable}, for an address that the operator named: loopback and IPv4 are then
   * allowed.
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
