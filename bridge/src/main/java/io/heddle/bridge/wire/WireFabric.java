package io.heddle.bridge.wire;

import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.redundancy.BeaconSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.NearestName;
import io.heddle.platform.NetworkNamespace;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Port in a RoCEv2 fabric, with a UDP socket of the bridge's own. */
public final class WireFabric implements FabricPort {
  private static final int IPV4_HEADERS = 28;
  private static final int IPV6_HEADERS = 48;
  private static final int IPV4_BITS = 96;

  private final String name;
  private final String namespace;
  private final NetworkLink link;
  private final List<Gid> own;
  private final List<LoopRules.Prefix> prefixes;
  private final Arena arena = Arena.ofShared();
  private final WireSocket socket;
  private final Memberships memberships;
  private final WireReceiver receiver;
  private final WireChecksums checksums;
  private final WireSender sender;
  /* Written by the control thread, read by the data thread. */
  private volatile int mtuBytes;

  private WireFabric(
      WireSpec spec,
      NetworkLink link,
      List<Gid> own,
      List<LoopRules.Prefix> prefixes,
      boolean transparent,
      SystemClock clock) {
    this.name = spec.name();
    namespace = spec.namespace();
    this.link = link;
    mtuBytes = link.mtuBytes();
    this.own = own;
    this.prefixes = prefixes;
    Gid ipv4 = firstOf(own, true);
    Gid ipv6 = firstOf(own, false);
    socket = WireSocket.open(link.name(), link.index(), ipv4, spec.hops());
    if (transparent) {
      allowAnySource();
    }
    memberships = new Memberships(link.name(), link.index());
    receiver = new WireReceiver(arena, socket.fd(), clock);
    checksums = new WireChecksums(ipv4, ipv6, receiver.base(), receiver.area());
    sender = new WireSender(arena, socket.fd(), checksums, spec.trains());
  }

  /**
   * Opens a fabric, in the calling thread's network namespace unless another one is configured.
   *
   * @param transparent whether packets are also sent from other hosts' addresses
   * @throws HeddleException if there is no such interface or address, or the port is in use
   */
  public static WireFabric open(WireSpec spec, boolean transparent, SystemClock clock) {
    return in(spec.namespace(), () -> openHere(spec, transparent, clock));
  }

  private static <T> T in(String namespace, Callable<T> step) {
    if (!namespace.isEmpty()) {
      return NetworkNamespace.call(namespace, step);
    }
    try {
      return step.call();
    } catch (RuntimeException unchecked) {
      throw unchecked;
    } catch (Exception impossible) {
      throw new IllegalStateException("a step of a wire fabric throws nothing else", impossible);
    }
  }

  private static WireFabric openHere(WireSpec spec, boolean transparent, SystemClock clock) {
    HostAddresses host = HostAddresses.read();
    NetworkLink link = linkOf(spec, host);
    List<AssignedAddress> assigned =
        host.addresses().stream().filter(each -> each.interfaceIndex() == link.index()).toList();
    List<Gid> own = new ArrayList<>();
    List<LoopRules.Prefix> prefixes = new ArrayList<>();
    for (AssignedAddress each : assigned) {
      Gid address = Gid.of(each.address());
      boolean used = spec.addresses().isEmpty() || spec.addresses().contains(address);
      if (used && !spec.proxyAddresses().contains(address)) {
        own.add(address);
      }
      int bits = each.prefixLength() + (address.isIpv4Mapped() ? IPV4_BITS : 0);
      prefixes.add(new LoopRules.Prefix(address, bits));
    }
    for (Gid wanted : spec.addresses()) {
      if (!own.contains(wanted)) {
        throw new HeddleException(
            "fabric "
                + spec.name()
                + ": "
                + link.name()
                + " has no address "
                + wanted
                + "; it has "
                + assigned);
      }
    }
    if (own.isEmpty()) {
      throw new HeddleException(
          "fabric "
              + spec.name()
              + ": "
              + link.name()
              + " has no address; give it one, of IPv4"
              + " for IPv4 groups");
    }
    return new WireFabric(spec, link, own, prefixes, transparent, clock);
  }

  /**
   * Checks that the interface has the proxy addresses.
   *
   * @throws HeddleException if an address is missing; the message names it
   */
  public static void requireAssigned(WireSpec spec) {
    HostAddresses host = in(spec.namespace(), HostAddresses::read);
    int index = linkOf(spec, host).index();
    Set<Gid> assigned = new HashSet<>();
    for (AssignedAddress each : host.addresses()) {
      if (each.interfaceIndex() == index) {
        assigned.add(Gid.of(each.address()));
      }
    }
    for (Gid each : spec.proxyAddresses()) {
      if (!assigned.contains(each)) {
        throw new HeddleException(
            "fabric "
                + spec.name()
                + ": "
                + spec.interfaceName()
                + " has no address "
                + each
                + ", which must represent a host; ip addr add "
                + each
                + (each.isIpv4Mapped() ? "/32" : "/128")
                + " dev "
                + spec.interfaceName());
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
    throw new HeddleException(
        "fabric "
            + spec.name()
            + ": there is no interface "
            + spec.interfaceName()
            + NearestName.suggestion(spec.interfaceName(), names));
  }

  /* Returns the first address of a family; for IPv6 preferably one that isn't link-local. */
  private static @Nullable Gid firstOf(List<Gid> own, boolean ipv4) {
    Gid first = null;
    for (Gid each : own) {
      if (each.isIpv4Mapped() == ipv4 && (first == null || first.isLinkLocal())) {
        first = each;
      }
    }
    return first;
  }

  /*
   * A smaller MTU applies from now on. A larger MTU than at the start doesn't.
   */
  @Override
  public String check() {
    HostAddresses host = in(namespace, HostAddresses::read);
    NetworkLink now = null;
    for (NetworkLink each : host.links()) {
      if (each.index() == link.index()) {
        now = each;
      }
    }
    if (now == null) {
      return link.name() + " is gone; restart the bridge once it is back";
    }
    mtuBytes = Math.min(link.mtuBytes(), now.mtuBytes());
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
  public void countAt(long counters) {
    receiver.countAt(counters);
    sender.countAt(counters);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String describe() {
    return "wire "
        + link.name()
        + (namespace.isEmpty() ? "" : " in " + namespace)
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
  public int descriptor() {
    return socket.fd();
  }

  @Override
  public boolean maySleep() {
    return true;
  }

  @Override
  public boolean keepsHeaders() {
    return true;
  }

  @Override
  public int mostBytes(boolean ipv4) {
    return (mtuBytes - (ipv4 ? IPV4_HEADERS : IPV6_HEADERS)) & ~3;
  }

  /**
   * Opens the socket of beacons.
   *
   * @throws HeddleException if the port is in use, or the group can't be joined
   */
  public BeaconSocket beacons(PeerSettings settings, int hops) {
    Gid ipv4 = firstOf(own, true);
    Gid group = settings.groupOf(ipv4 != null);
    if (group.isIpv4Mapped() && ipv4 == null) {
      throw new HeddleException(
          "fabric "
              + name
              + ": "
              + link.name()
              + " has no IPv4 address, and beacons go to "
              + group
              + "; set an IPv6 group= in the redundancy line of all bridges");
    }
    return in(
        namespace,
        () ->
            BeaconSocket.open(
                link.name(), link.index(), ipv4, group, settings.port(), hops, () -> true));
  }

  @Override
  public void join(GroupAddress group) {
    in(
        namespace,
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
    Gid source = firstOf(own, ipv4);
    if (source == null) {
      throw new HeddleException(
          "fabric "
              + name
              + ": "
              + link.name()
              + " has no "
              + (ipv4 ? "IPv4" : "IPv6")
              + " address to send to group "
              + group
              + " from; give it one");
    }
    /*
     * The socket has a source address for IPv4 groups. For IPv6 groups the kernel would choose one.
     */
    return new WireSendPath(
        ipv4 ? null : source,
        group,
        PacketFormat.ROCE_PORT,
        link.index(),
        trafficClass,
        mostBytes(ipv4));
  }

  @Override
  public void retire(SendPath sendPath) {
    /* A wire path has no resources to free. */
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    int most = mostBytes(destination.isIpv4Mapped());
    return new WireSendPath(
        source, destination, PacketFormat.ROCE_PORT, link.index(), trafficClass, most);
  }

  @Override
  public int poll() {
    checksums.startBatch();
    return receiver.receive();
  }

  @Override
  public TrainBatch batch() {
    return receiver.batch();
  }

  @Override
  public int checksum(long packet, int covered) {
    return checksums.of(packet, covered);
  }

  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    TrainBatch batch = receiver.batch();
    int difference =
        crc ^ checksums.ofReceived(batch, train, covered) ^ Memory.getInt(packet + covered);
    return difference == 0 || checksums.isValidWith(batch, train, difference, covered);
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    sender.send((WireSendPath) sendPath, packet, lengthBytes, crc, counters, arrivedNs);
  }

  @Override
  public void flush() {
    sender.flush();
  }

  @Override
  public void discard() {
    sender.discard();
  }

  @Override
  public void close() {
    memberships.close();
    socket.close();
    arena.close();
  }
}
