package io.heddle.bridge.wire;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.redundancy.BeaconSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.platform.NetworkNamespace;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Port in a RoCEv2 fabric, with a UDP socket of the bridge's own. */
public final class WireFabric implements FabricPort {
  private final WireSpec spec;
  private final NetworkLink link;
  private final List<Gid> own;
  private final List<LoopRules.Prefix> prefixes;
  private final Arena arena = Arena.ofShared();
  private final WireSocket socket;
  private final Memberships memberships;
  private final WirePackets packets;

  private WireFabric(
      WireSpec spec,
      NetworkLink link,
      List<Gid> own,
      List<LoopRules.Prefix> prefixes,
      boolean transparent,
      SystemClock clock,
      long counters) {
    this.spec = spec;
    this.link = link;
    this.own = own;
    this.prefixes = prefixes;
    Gid ipv4 = FabricPort.firstOf(own, true);
    Gid ipv6 = FabricPort.firstOf(own, false);
    socket = WireSocket.open(link.name(), link.index(), ipv4, spec.hops());
    if (transparent) {
      allowAnySource();
    }
    memberships = new Memberships(link.name(), link.index());
    packets =
        new WirePackets(
            arena, socket.fd(), clock, ipv4, ipv6, spec.trains(), link.mtuBytes(), counters);
  }

  /**
   * Opens a fabric, in the calling thread's network namespace unless another one is configured.
   *
   * @param transparent whether packets are also sent from other hosts' addresses
   * @param counters address of the fabric's counters in the status file
   * @throws HeddleException if there is no such interface or address, or the port is in use
   */
  public static WireFabric open(
      WireSpec spec, boolean transparent, SystemClock clock, long counters) {
    return in(spec, () -> openHere(spec, transparent, clock, counters));
  }

  private static <T> T in(WireSpec spec, Callable<T> step) {
    if (!spec.namespace().isEmpty()) {
      return NetworkNamespace.call(spec.namespace(), step);
    }
    try {
      return step.call();
    } catch (RuntimeException unchecked) {
      throw unchecked;
    } catch (Exception impossible) {
      throw new IllegalStateException("a step of a wire fabric throws nothing else", impossible);
    }
  }

  private static WireFabric openHere(
      WireSpec spec, boolean transparent, SystemClock clock, long counters) {
    HostAddresses host = HostAddresses.read();
    NetworkLink link = linkOf(spec, host);
    List<AssignedAddress> assigned =
        host.addresses().stream().filter(each -> each.interfaceIndex() == link.index()).toList();
    List<Gid> own = new ArrayList<>();
    for (AssignedAddress each : assigned) {
      Gid address = Gid.of(each.address());
      boolean used = spec.addresses().isEmpty() || spec.addresses().contains(address);
      if (used && !spec.proxyAddresses().contains(address)) {
        own.add(address);
      }
    }
    for (Gid wanted : spec.addresses()) {
      if (!own.contains(wanted)) {
        throw spec.failure("%s has no address %s; it has %s", link.name(), wanted, assigned);
      }
    }
    if (own.isEmpty()) {
      throw spec.failure("%s has no address; give it one, of IPv4 for IPv4 groups", link.name());
    }
    List<LoopRules.Prefix> prefixes = LoopRules.Prefix.ofInterface(link.index(), host);
    return new WireFabric(spec, link, own, prefixes, transparent, clock, counters);
  }

  /**
   * Checks that the interface has the proxy addresses.
   *
   * @throws HeddleException if an address is missing; the message names it
   */
  public static void requireAssigned(WireSpec spec) {
    HostAddresses host = in(spec, HostAddresses::read);
    int index = linkOf(spec, host).index();
    Set<Gid> assigned = new HashSet<>();
    for (AssignedAddress each : host.addresses()) {
      if (each.interfaceIndex() == index) {
        assigned.add(Gid.of(each.address()));
      }
    }
    for (Gid each : spec.proxyAddresses()) {
      if (!assigned.contains(each)) {
        throw spec.missingProxyAddress(each, "dev " + spec.interfaceName());
      }
    }
  }

  private void allowAnySource() {
    try {
      socket.allowAnySource();
    } catch (HeddleException refused) {
      socket.close();
      arena.close();
      throw refused;
    }
  }

  private static NetworkLink linkOf(WireSpec spec, HostAddresses host) {
    List<String> names = host.links().stream().map(NetworkLink::name).toList();
    for (NetworkLink each : host.links()) {
      if (each.name().equals(spec.interfaceName())) {
        return each;
      }
    }
    throw spec.failure(
        "there is no interface %s%s",
        spec.interfaceName(), NearestName.suggestion(spec.interfaceName(), names));
  }

  /*
   * A smaller MTU applies from now on. A larger MTU than at the start doesn't.
   */
  @Override
  public String check() {
    HostAddresses host = in(spec, HostAddresses::read);
    NetworkLink now = null;
    for (NetworkLink each : host.links()) {
      if (each.index() == link.index()) {
        now = each;
      }
    }
    if (now == null) {
      return link.name() + " is gone; restart the bridge once it is back";
    }
    int mtuBytes = Math.min(link.mtuBytes(), now.mtuBytes());
    packets.setMtu(mtuBytes);
    List<String> faults = new ArrayList<>();
    if (!now.isUp()) {
      faults.add(link.name() + " has no link");
    }
    Set<Gid> assigned = new HashSet<>();
    host.addresses().forEach(each -> assigned.add(Gid.of(each.address())));
    for (Gid each : own) {
      if (!assigned.contains(each)) {
        faults.add("address " + each + " is gone");
      }
    }
    if (mtuBytes < link.mtuBytes()) {
      faults.add("the MTU is " + mtuBytes + " and was " + link.mtuBytes());
    }
    return String.join(", ", faults);
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public String describe() {
    return "wire "
        + link.name()
        + (spec.namespace().isEmpty() ? "" : " in " + spec.namespace())
        + " "
        + own.stream().map(Gid::toString).collect(Collectors.joining(" "));
  }

  @Override
  public List<Gid> ownAddresses() {
    return own;
  }

  @Override
  public List<LoopRules.Prefix> ownPrefixes() {
    return prefixes;
  }

  @Override
  public PacketPort packets() {
    return packets;
  }

  /**
   * Opens the socket of beacons.
   *
   * @throws HeddleException if the port is in use, or the group can't be joined
   */
  public BeaconSocket beacons(PeerSettings settings) {
    Gid ipv4 = FabricPort.firstOf(own, true);
    BeaconSocket.requireSource(spec, link.name() + " has no IPv4 address", ipv4, settings);
    return in(spec, () -> BeaconSocket.open(spec, link, ipv4, settings, () -> true));
  }

  @Override
  public void join(GroupAddress group) {
    in(
        spec,
        () -> {
          memberships.join(group.address());
          return group;
        });
  }

  @Override
  public void leave(Gid group) {
    memberships.leave(group);
  }

  @Override
  public SendPath sendPathTo(GroupAddress named, int trafficClass) {
    Gid group = named.address();
    boolean ipv4 = group.isIpv4Mapped();
    Gid source = FabricPort.firstOf(own, ipv4);
    if (source == null) {
      throw spec.failure(
          "%s has no %s address to send to group %s from; give it one",
          link.name(), ipv4 ? "IPv4" : "IPv6", group);
    }
    /*
     * The socket has a source address for IPv4 groups. For IPv6 groups the kernel would choose one.
     */
    return new WireSendPath(
        ipv4 ? null : source, group, link.index(), trafficClass, packets.mostBytes(ipv4));
  }

  @Override
  public void retire(SendPath sendPath) {
    /* A wire path has no resources to free. */
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    int most = packets.mostBytes(destination.isIpv4Mapped());
    return new WireSendPath(source, destination, link.index(), trafficClass, most);
  }

  @Override
  public void close() {
    memberships.close();
    socket.close();
    arena.close();
  }
}
