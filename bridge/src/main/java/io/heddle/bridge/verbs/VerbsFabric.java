package io.heddle.bridge.verbs;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
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
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
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
  private final String name;
  private final String device;
  private final int hops;
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

  private VerbsFabric(VerbsSpec spec, VerbsPort port, HostAddresses host, Log log) {
    name = spec.name();
    device = spec.device();
    hops = spec.hops();
    this.port = port;
    if (port.ethernet()) {
      link = PortLink.of(port, host);
      prefixes = PortLink.prefixes(link, host);
      hosts = null;
      join = joinOf(spec, port, link);
    } else {
      SubnetJoin subnet = SubnetJoin.open(spec, port.deviceName(), port.number(), host, log);
      link = PortLink.of(subnet.address(), host);
      prefixes = List.of();
      join = subnet;
      hosts = new SubnetHosts(subnet.address(), subnet.partitionKey());
    }
    queues = openQueues(Math.max(1, spec.queuePairs()));
    if (hosts != null) {
      queues.useHosts(hosts);
    }
    watch = new VerbsMonitor(port, queues.all(), hosts);
    sendPaths = new VerbsSendPaths(queues, hosts, watch.table(), this::currentAttributes);
  }

  /**
   * Opens a fabric. Groups are joined in the calling thread's network namespace.
   *
   * @throws HeddleException if there is no such device or address, or the device refuses
   */
  public static VerbsFabric open(VerbsSpec spec, Log log) {
    VerbsPort port = VerbsPort.open(spec, log);
    try {
      return new VerbsFabric(spec, port, HostAddresses.read(), log);
    } catch (RuntimeException refused) {
      port.context().close();
      throw refused;
    }
  }

  private VerbsQueueSet openQueues(int count) {
    try {
      return VerbsQueueSet.open(port.context(), count, partitionIndex());
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
            new HeddleException(
                "fabric "
                    + name
                    + ": "
                    + device
                    + " isn't in partition 0x"
                    + Integer.toHexString(key)
                    + ", in which its groups are joined"));
  }

  private static GroupJoin joinOf(VerbsSpec spec, VerbsPort port, @Nullable NetworkLink link) {
    GroupJoin ofInterface =
        link == null ? new InterfaceJoin() : new InterfaceJoin(link.name(), link.index());
    GidTable.Entry ipv4 = port.source(true);
    GroupJoin kernels =
        ipv4 == null ? null : RdmaCmJoin.open(spec.device(), ipv4.gid(), ofInterface);
    return kernels == null ? ofInterface : kernels;
  }

  @Override
  public void countAt(long counters) {
    queues.countAt(counters);
    watch.countAt(counters);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String describe() {
    return "verbs "
        + device
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
      throw new HeddleException(
          "fabric "
              + name
              + ": the port of "
              + device
              + " has no interface in this network namespace, and several bridges need one for"
              + " their beacons; start the bridge in the namespace of the port's interface, or"
              + " remove the redundancy line");
    }
    Gid group = settings.groupOf(beaconSource(link) != null);
    if (group.isIpv4Mapped() && beaconSource(link) == null) {
      throw new HeddleException(
          "fabric "
              + name
              + ": "
              + device
              + " has no IPv4 address on "
              + link.name()
              + ", and beacons go to "
              + group
              + "; set an IPv6 group= in the redundancy line of all bridges");
    }
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
    Gid ipv4 = beaconSource(by);
    return BeaconSocket.open(
        by.name(),
        by.index(),
        ipv4,
        settings.groupOf(ipv4 != null),
        settings.port(),
        hops,
        () -> watch.isActive() && !queues.first().isDown());
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
  public int descriptor() {
    return queues.descriptor();
  }

  @Override
  public boolean maySleep() {
    return queues.maySleep();
  }

  @Override
  public boolean keepsHeaders() {
    return false;
  }

  /*
   * Returns the limit of packets with immediate data. A packet without them has a shorter header,
   * so its payload may be too large although the packet is within the limit. Such a packet is
   * dropped on sending.
   */
  @Override
  public int mostBytes(boolean ipv4) {
    return DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY_WITH_IMMEDIATE)
        + watch.mtuBytes()
        + PacketFormat.ICRC_BYTES;
  }

  @Override
  public synchronized void join(GroupAddress group) {
    setRoute(group.address(), join.join(group));
  }

  /* The receiver must be able to map the MGID to the group before the first packet can arrive. */
  private void setRoute(Gid group, GroupRoute route) {
    GroupRoute old = routes.put(group, route);
    useNames();
    if (old != null && !old.equals(route)) {
      queues.first().detach(old.mgid());
    }
    try {
      queues.first().attach(route.mgid(), route.lid());
    } catch (VerbsException refused) {
      routes.remove(group);
      useNames();
      throw refused;
    }
  }

  private void useNames() {
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
      useNames();
    }
    join.leave(group);
  }

  @Override
  public SendPath sendPathTo(GroupAddress named, int trafficClass) {
    Gid group = named.address();
    boolean ipv4 = group.isIpv4Mapped();
    GidTable.Entry source = port.source(ipv4);
    if (source == null) {
      throw new HeddleException(
          "fabric "
              + name
              + ": "
              + device
              + " has no "
              + (ipv4 ? "IPv4" : "IPv6")
              + " address to send to group "
              + group
              + " from; give its interface one");
    }
    synchronized (this) {
      GroupRoute route = join.joinToSend(named);
      try {
        return sendPaths.toGroup(attributesOf(route, source.gid(), trafficClass), named);
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
        hops,
        route.lid(),
        true,
        route.staticRate());
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    return sendPaths.toHost(source, destination, trafficClass, hops);
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
  public void requireAssigned(VerbsSpec spec) {
    if (port.ethernet()) {
      VerbsPort.requireProxyAddresses(spec, port.context().gidTable().entries());
    } else {
      SubnetJoin.requireProxyAddresses(spec, port.deviceName(), port.number(), join.partitionKey());
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
  public int poll() {
    watch.requireAlive();
    return queues.poll();
  }

  @Override
  public TrainBatch batch() {
    return queues.batch();
  }

  @Override
  public int checksum(long packet, int covered) {
    return queues.checksum(packet, covered);
  }

  /* The device drops damaged packets. */
  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    return true;
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    queues.send((VerbsSendPath) sendPath, packet, lengthBytes, counters, arrivedNs);
  }

  @Override
  public void flush() {
    queues.flush();
  }

  @Override
  public void discard() {
    queues.discard();
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
