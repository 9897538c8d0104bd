package io.heddle.bridge.verbs;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.infiniband.GroupJoin;
import io.heddle.bridge.infiniband.GroupRoute;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.infiniband.SubnetJoin;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.redundancy.BeaconSocket;
import io.heddle.bridge.table.AddressTable;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.VerbsException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Port in a RoCEv2 or InfiniBand fabric, with datagram queue pairs of a libibverbs port. The device
 * computes and checks CRCs. It also sets the sequence number, source address and source queue pair
 * of each sent packet.
 *
 * <p>Joins and checks on the control path hold this object's monitor. A join may block for long, so
 * paths have a separate lock ({@link VerbsSendPaths}).
 */
public final class VerbsFabric implements QueuePairPort {
  private final VerbsSpec spec;
  private final VerbsPort port;
  private final @Nullable NetworkLink link;
  private final List<LoopRules.Prefix> prefixes;
  private final VerbsQueueSet queues;
  private final GroupJoin join;
  private final VerbsMonitor watch;
  private final @Nullable SubnetHosts hosts;
  private final VerbsSendPaths sendPaths;
  /* Routes of the groups that are received, by group address. */
  private final Map<Gid, GroupRoute> routes = new HashMap<>();
  private boolean closed;

  private VerbsFabric(VerbsSpec spec, VerbsPort port, HostAddresses host, Log log, long counters) {
    this.spec = spec;
    this.port = port;
    if (port.ethernet()) {
      link = port.link(host);
      prefixes = link == null ? List.of() : LoopRules.Prefix.ofInterface(link.index(), host);
      hosts = null;
      join = EthernetJoin.open(spec.device(), link, port.source(true));
    } else {
      SubnetJoin subnet = SubnetJoin.open(spec, port.deviceName(), port.number(), host, log);
      link = subnet.link(host);
      prefixes = List.of();
      join = subnet;
      hosts = new SubnetHosts(subnet.address(), subnet.partitionKey());
    }
    queues = openQueues(counters);
    watch = new VerbsMonitor(port, queues, hosts, counters);
    sendPaths = new VerbsSendPaths(queues, hosts, watch.table(), this::currentAttributes);
  }

  /**
   * Opens a fabric. Groups are joined in the calling thread's network namespace.
   *
   * @param counters address of the fabric's counters in the status file
   * @throws HeddleException if there is no such device or address, or the device refuses
   */
  public static VerbsFabric open(VerbsSpec spec, Log log, long counters) {
    VerbsPort port = VerbsPort.open(spec, log);
    try {
      return new VerbsFabric(spec, port, HostAddresses.read(), log, counters);
    } catch (RuntimeException refused) {
      port.context().close();
      throw refused;
    }
  }

  private VerbsQueueSet openQueues(long counters) {
    try {
      int count = Math.max(1, spec.queuePairs());
      return VerbsQueueSet.open(port.context(), count, partitionIndex(), hosts, counters);
    } catch (RuntimeException refused) {
      join.close();
      throw refused;
    }
  }

  private int partitionIndex() {
    int key = join.partitionKey();
    return port.context()
        .partitionIndex(key)
        .orElseThrow(() ->
            spec.failure(
                "%s isn't in partition 0x%x, in which its groups are joined", spec.device(), key));
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public String describe() {
    return "verbs "
        + spec.device()
        + " "
        + port.addresses().stream().map(Gid::toString).collect(Collectors.joining(" "))
        + " joins by "
        + join.describe();
  }

  /**
   * Checks that beacons can use the port's interface.
   *
   * @return the interface
   * @throws HeddleException if this network namespace has no such interface, or the interface has
   *     no IPv4 address and the beacons need one
   */
  public NetworkLink requireBeacons(PeerSettings settings) {
    if (link == null) {
      throw spec.failure(
          "the port of %s has no interface in this network namespace, and several bridges need one"
              + " for their beacons; start the bridge in the namespace of the port's interface, or"
              + " remove [redundancy]",
          spec.device());
    }
    BeaconSocket.requireSource(
        spec,
        spec.device() + " has no IPv4 address on " + link.name(),
        beaconSource(link),
        settings);
    return link;
  }

  private @Nullable Gid beaconSource(NetworkLink by) {
    if (join instanceof SubnetJoin subnet) {
      return subnet.address().isIpv4Mapped() ? subnet.address() : null;
    }
    for (GidTable.Entry each : port.own()) {
      if (each.gid().isIpv4Mapped() && each.interfaceIndex() == by.index()) {
        return each.gid();
      }
    }
    return null;
  }

  /**
   * Opens the socket of beacons on the interface of the port.
   *
   * @throws HeddleException if there is no such interface, the UDP port is in use, or the group
   *     can't be joined
   */
  public BeaconSocket beacons(PeerSettings settings) {
    NetworkLink by = requireBeacons(settings);
    return BeaconSocket.open(
        spec, by, beaconSource(by), settings, () -> watch.isActive() && !queues.first().isDown());
  }

  @Override
  public List<Gid> ownAddresses() {
    return port.addresses();
  }

  @Override
  public List<LoopRules.Prefix> ownPrefixes() {
    return prefixes;
  }

  @Override
  public PacketPort packets() {
    return queues;
  }

  @Override
  public synchronized void join(GroupAddress group) {
    setRoute(group.address(), join.join(group));
  }

  /* The receiver must be able to map the MGID to the group before the first packet can arrive. */
  private void setRoute(Gid group, GroupRoute route) {
    GroupRoute old = routes.put(group, route);
    updateGroupNames();
    if (old != null && !old.equals(route)) {
      queues.first().detach(old.mgid());
    }
    try {
      queues.first().attach(route.mgid(), route.lid());
    } catch (VerbsException refused) {
      routes.remove(group);
      updateGroupNames();
      throw refused;
    }
  }

  private void updateGroupNames() {
    Map<Gid, Gid> names = new HashMap<>();
    routes.forEach((group, route) -> {
      if (!route.mgid().equals(group)) {
        names.put(route.mgid(), group);
      }
    });
    queues.first().useNames(new AddressTable<>(names));
  }

  @Override
  public synchronized void leave(Gid group) {
    GroupRoute route = routes.remove(group);
    if (route != null) {
      queues.first().detach(route.mgid());
      updateGroupNames();
    }
    join.leave(group);
  }

  @Override
  public SendPath sendPathTo(GroupAddress named, int trafficClass) {
    Gid group = named.address();
    boolean ipv4 = group.isIpv4Mapped();
    Gid source = port.source(ipv4);
    if (source == null) {
      throw spec.failure(
          "%s has no %s address to send to group %s from; give its interface one",
          spec.device(), ipv4 ? "IPv4" : "IPv6", group);
    }
    synchronized (this) {
      GroupRoute route = join.joinToSend(named);
      try {
        return sendPaths.toGroup(attributesOf(route, source, trafficClass), named);
      } catch (RuntimeException refused) {
        join.leaveToSend(named);
        throw refused;
      }
    }
  }

  private AddressHandleAttributes attributesOf(GroupRoute route, Gid source, int trafficClass) {
    return new AddressHandleAttributes(
        source,
        route.mgid(),
        trafficClass,
        route.serviceLevel(),
        spec.hops(),
        route.lid(),
        true,
        route.staticRate());
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    return sendPaths.toHost(source, destination, trafficClass, spec.hops());
  }

  @Override
  public @Nullable SendPath readySendPath(Gid source, Gid destination) {
    return sendPaths.ready(source, destination);
  }

  @Override
  public @Nullable SubnetHosts hosts() {
    return hosts;
  }

  @Override
  public int[] numbers() {
    return queues.numbers();
  }

  /**
   * Checks that the port has the proxy addresses.
   *
   * @throws HeddleException if an address is missing; the message names it
   */
  public void requireAssigned(VerbsSpec wanted) {
    if (port.ethernet()) {
      VerbsPort.requireProxyAddresses(wanted, port.context().gidTable().entries());
    } else {
      SubnetJoin.requireProxyAddresses(
          wanted, port.deviceName(), port.number(), join.partitionKey());
    }
  }

  @Override
  public synchronized void retire(SendPath sendPath) {
    if (sendPath instanceof VerbsSendPath own && sendPaths.forget(own) && own.group() != null) {
      join.leaveToSend(own.group());
    }
  }

  @Override
  public synchronized String check() {
    String state = watch.check(join.check());
    for (Gid each : List.copyOf(routes.keySet())) {
      GroupRoute now = join.routeOf(each);
      if (now != null && !now.equals(routes.get(each))) {
        setRoute(each, now);
      }
    }
    sendPaths.follow(watch.table());
    return state;
  }

  private @Nullable AddressHandleAttributes currentAttributes(VerbsSendPath sendPath) {
    GroupAddress group = sendPath.group();
    GroupRoute route = group == null ? null : join.routeToSend(group);
    AddressHandleAttributes before = sendPath.attributes();
    return route == null ? null : attributesOf(route, before.localGid(), before.trafficClass());
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      join.close();
      port.context().close();
      queues.free();
    }
  }
}
