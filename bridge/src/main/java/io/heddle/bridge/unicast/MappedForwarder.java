package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.multicast.StormGuard;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of unicast datagrams between two fabrics, of which at least one is a libibverbs device.
 * Hosts in such a fabric know remote hosts by addresses and queue pairs of the bridge. On the wire,
 * packets contain the hosts' own queue pair numbers. Each dropped packet is counted under its
 * reason. Used by the data thread only.
 */
public final class MappedForwarder implements HostForwarder {
  /** Maximum number of conversations, which are pairs of communicating queue pairs. */
  static final int MOST_CONVERSATIONS = 262_144;

  private final MappedEnd[] ends;
  private final int trafficClass;
  private final QueuePairMapping mapping;
  private final long[] counters;
  private final Limiter limiter;
  private final Conversations conversations;
  /*
   * Flows by host pair, one table for each source fabric. All conversations of a pair share a flow.
   */
  private final PairTable[] flows = {
    new PairTable(UnicastForwarder.MOST_PAIRS), new PairTable(UnicastForwarder.MOST_PAIRS)
  };
  private final QueuePairMap numbers;
  private final MappedRequests requests;
  private final boolean bothIdentifyHosts;
  private ProxyAddresses proxyAddresses = ProxyAddresses.NONE;
  /*
   * Source and destination of the current train, as the other fabric addresses them; null if its
   * packets contain no hosts' addresses.
   */
  private @Nullable Gid source;
  private @Nullable Gid destination;

  /**
   * @param a port in fabric a, which {@link #close} closes
   * @param b port in fabric b, which {@link #close} closes; a or b is on a device
   * @param settings settings with a mapping
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param limiter limiter of the forwarded packets
   * @param ids source of the bridge's own request ids
   */
  public MappedForwarder(
      Arena arena,
      MappedEnd a,
      MappedEnd b,
      UnicastSettings settings,
      QueuePairMapping mapping,
      long[] counters,
      Limiter limiter,
      RandomGenerator ids) {
    ends = new MappedEnd[] {a, b};
    conversations = new Conversations(MOST_CONVERSATIONS, a.identifiesHosts(), b.identifiesHosts());
    bothIdentifyHosts = a.identifiesHosts() && b.identifiesHosts();
    this.mapping = mapping;
    this.counters = counters.clone();
    this.limiter = limiter;
    trafficClass = settings.trafficClass();
    numbers = new QueuePairMap(ends, conversations);
    requests = new MappedRequests(arena, ends, trafficClass, counters, numbers, ids);
    follow(settings.proxyAddresses());
  }

  /*
   * Adopts the current proxy addresses. The mapped numbers refer to the previous addresses, so all
   * mappings are removed, and clients must send new requests.
   */
  private void follow(ProxyAddresses now) {
    if (now == proxyAddresses) {
      return;
    }
    boolean changed = !now.equals(proxyAddresses);
    proxyAddresses = now;
    requests.use(now);
    if (changed) {
      numbers.clear();
      for (PairTable each : flows) {
        each.clear();
      }
      count();
      for (int side = 0; side < ends.length; side++) {
        SidrService service = ends[side].service();
        if (service != null) {
          service.serve(now.addressesIn(side), mapping.ports());
        }
      }
    }
  }

  private void count() {
    for (long each : counters) {
      UnicastCounters.pairs(
          each, conversations.size(), conversations.evicted(), conversations.aged());
    }
  }

  @Override
  public void forward(int side, int train, LoopRules from, LoopRules to, ProxyAddresses now) {
    long nowNs = System.nanoTime();
    follow(now);
    TrainBatch batch = ends[side].packets().batch();
    int packets = batch.packets(train);
    GroupCounters.arrived(counters[side], packets);
    DropReason against = dropReasonOfSource(side, batch, train, from);
    if (against == null) {
      against = readHosts(side, batch, train, to);
    }
    if (against != null) {
      GroupCounters.dropped(counters[side], against, packets);
      return;
    }
    long packet = batch.address[train];
    long end = packet + batch.lengthBytes[train];
    int stride = batch.strideBytes[train];
    while (packet < end) {
      int length = (int) Math.min(stride, end - packet);
      DropReason reason = forwardPacket(side, train, packet, length, to, nowNs);
      if (reason != null) {
        GroupCounters.dropped(counters[side], reason, 1);
      }
      packet += stride;
    }
  }

  /* The source is 0 if the packet's LID belongs to no known port of InfiniBand. */
  private @Nullable DropReason dropReasonOfSource(
      int side, TrainBatch batch, int train, LoopRules from) {
    long high = batch.sourceHigh[train];
    long low = batch.sourceLow[train];
    return (high | low) == 0 && !ends[side].identifiesHosts()
        ? DropReason.NO_PATH
        : from.dropReason(high, low);
  }

  /* Sets source and destination, if the train's packets contain hosts' addresses. */
  private @Nullable DropReason readHosts(int side, TrainBatch batch, int train, LoopRules to) {
    source = null;
    destination = null;
    if (!ends[side].identifiesHosts()) {
      return null;
    }
    source = proxyAddresses.addressOf(side, batch.sourceHigh[train], batch.sourceLow[train]);
    destination =
        proxyAddresses.hostOf(side, batch.destinationHigh[train], batch.destinationLow[train]);
    if (destination == null
        || ends[1 - side].identifiesHosts()
            && to.dropReason(destination.high(), destination.low()) != null) {
      return DropReason.FOREIGN_DESTINATION;
    }
    return source == null || source.isIpv4Mapped() != destination.isIpv4Mapped()
        ? DropReason.NO_PROXY_ADDRESS
        : null;
  }

  private @Nullable DropReason forwardPacket(
      int side, int train, long packet, int length, LoopRules to, long nowNs) {
    if (!DatagramFormat.isDatagram(packet, length)) {
      return DropReason.MALFORMED;
    }
    int number = PacketFormat.queuePair(packet);
    if (number == 0 || number == DatagramFormat.MULTICAST_QUEUE_PAIR) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    PacketPort from = ends[side].packets();
    int covered = length - PacketFormat.ICRC_BYTES;
    if (!from.isIntact(train, packet, covered, from.checksum(packet, covered))) {
      return DropReason.BAD_CHECKSUM;
    }
    if (number == ManagementDatagram.QUEUE_PAIR) {
      return forwardManagement(side, train, packet, length, nowNs);
    }
    Gid host = destination;
    if (host != null && isTooLarge(side, length, host.isIpv4Mapped())) {
      return DropReason.TOO_LARGE;
    }
    TrainBatch batch = from.batch();
    int slot = slotOf(side, batch, train, packet, nowNs);
    if (slot < 0) {
      return slot == QueuePairMap.NO_PORT ? requestPath(side) : DropReason.NO_QUEUE_PAIR;
    }
    DropReason against =
        host != null && bothIdentifyHosts ? null : dropReason(side, slot, length, to);
    if (against != null) {
      return against;
    }
    LimitedFlow flow = flowOf(side, slot, nowNs);
    if (flow == null) {
      return ends[1 - side].identifiesHosts() ? DropReason.NOT_SENT : DropReason.NO_PATH;
    }
    conversations.touch(slot, nowNs);
    rewrite(side, slot, packet);
    int crc = from.checksum(packet, covered);
    long digest = StormGuard.digest(crc, packet, covered);
    limiter.offer(flow, packet, length, crc, digest, batch.arrivedNs[train], nowNs);
    return null;
  }

  private boolean isTooLarge(int side, int length, boolean ipv4) {
    return length > ends[1 - side].packets().mostBytes(ipv4);
  }

  /*
   * Checks the conversation's destination by the filter and the MTU of the other fabric. Used if
   * the destination couldn't be checked by the packet's addresses.
   */
  private @Nullable DropReason dropReason(int side, int slot, int length, LoopRules to) {
    int other = 1 - side;
    boolean named = ends[other].identifiesHosts();
    long hostHigh = conversations.hostHigh(other, slot);
    long hostLow = conversations.hostLow(other, slot);
    long high = named ? hostHigh : conversations.portHigh(other, slot);
    long low = named ? hostLow : conversations.portLow(other, slot);
    if (to.dropReason(high, low) != null) {
      return DropReason.FOREIGN_DESTINATION;
    }
    boolean ipv4 = hostHigh == 0 && hostLow >>> 32 == 0xffff;
    return isTooLarge(side, length, ipv4) ? DropReason.TOO_LARGE : null;
  }

  /* Requests the path of a dropped packet, so that a later packet finds it. */
  private DropReason requestPath(int side) {
    if (source != null && destination != null) {
      ends[1 - side].sendPath(source, destination, trafficClass);
    }
    return DropReason.NO_PATH;
  }

  /*
   * Handles a packet to queue pair 1. Only on the wire: on a device, queue pair 1 belongs to the
   * kernel.
   */
  private @Nullable DropReason forwardManagement(
      int side, int train, long packet, int length, long nowNs) {
    if (ends[side].isDevice() || source == null || destination == null) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    TrainBatch batch = ends[side].packets().batch();
    HostPair near =
        new HostPair(
            new Gid(batch.sourceHigh[train], batch.sourceLow[train]),
            new Gid(batch.destinationHigh[train], batch.destinationLow[train]));
    HostPair far = new HostPair(source, destination);
    DropReason reason = requests.take(side, packet, length, near, far, nowNs);
    if (reason == null) {
      GroupCounters.forwarded(counters[side], length, nowNs - batch.arrivedNs[train]);
    }
    return reason;
  }

  private int slotOf(int side, TrainBatch batch, int train, long packet, long nowNs) {
    int index = ends[side].indexOf(PacketFormat.queuePair(packet));
    int number = DatagramFormat.sourceQueuePair(packet);
    long high = batch.sourceHigh[train];
    long low = batch.sourceLow[train];
    Gid far = destination;
    long farHigh = far == null ? 0 : far.high();
    long farLow = far == null ? 0 : far.low();
    int slot = conversations.find(side, high, low, farHigh, farLow, index, number);
    if (slot == Conversations.NONE) {
      Gid near = new Gid(high, low);
      slot =
          far == null
              ? numbers.beginAt(side, near, index, number, nowNs)
              : numbers.begin(side, new HostPair(near, far), index, number, nowNs);
      count();
    }
    return slot;
  }

  /* Returns the flow to the destination; null while there is no path to a host on a device. */
  private @Nullable LimitedFlow flowOf(int side, int slot, long nowNs) {
    LimitedFlow known = conversations.flowTo(1 - side, slot);
    if (known != null) {
      return known;
    }
    Gid from = source;
    Gid to = destination;
    if (to == null) {
      from =
          proxyAddresses.addressOf(
              side, conversations.hostHigh(side, slot), conversations.hostLow(side, slot));
      to = conversations.host(1 - side, slot);
    }
    LimitedFlow flow = from == null ? null : hostsFlow(side, from, to, nowNs);
    if (flow != null) {
      conversations.setFlow(1 - side, slot, flow);
    }
    return flow;
  }

  private @Nullable LimitedFlow hostsFlow(int side, Gid from, Gid to, long nowNs) {
    long high = from.high();
    long low = from.low();
    PairTable table = flows[side];
    LimitedFlow known = table.find(high, low, to.high(), to.low(), nowNs);
    if (known != null) {
      return known;
    }
    SendPath sendPath = ends[1 - side].sendPath(from, to, trafficClass);
    if (sendPath == null) {
      return null;
    }
    LimitedFlow flow = new LimitedFlow(1 - side, sendPath, RateLimit.NONE, counters[side], nowNs);
    table.add(high, low, to.high(), to.low(), flow, nowNs);
    return flow;
  }

  /*
   * Maps the packet's queue pair numbers and queue key. Packets from hosts on the wire contain the
   * destination's real number and key, so only their source number is mapped.
   */
  private void rewrite(int side, int slot, long packet) {
    int other = 1 - side;
    int number = ends[other].numberOf(conversations.index(other, slot));
    boolean immediate = PacketFormat.opcode(packet) == DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
    if (mapping.fixesImmediate()
        && immediate
        && DatagramFormat.immediate(packet) == DatagramFormat.sourceQueuePair(packet)) {
      DatagramFormat.setImmediate(packet, number);
    }
    DatagramFormat.setSourceQueuePair(packet, number);
    if (ends[side].isDevice()) {
      DatagramFormat.setQueuePair(packet, conversations.number(other, slot));
      DatagramFormat.setQueueKey(packet, conversations.queueKey(other, slot));
    }
  }

  @Override
  public void expire(int side, long nowNs) {
    if (side != 0) {
      return;
    }
    requests.receive(nowNs);
    requests.expire(nowNs);
    int before = conversations.size();
    conversations.expire(nowNs);
    for (int at = 0; at < ends.length; at++) {
      if (ends[at].haveMoved()) {
        conversations.removeMoved(at, ends[at]::portOf, nowNs);
      }
    }
    for (PairTable each : flows) {
      each.expire(nowNs);
    }
    if (conversations.size() != before) {
      count();
    }
  }

  @Override
  public String check() {
    StringBuilder faults = new StringBuilder();
    for (MappedEnd each : ends) {
      SidrService service = each.service();
      String fault = service == null ? "" : service.check();
      faults.append(faults.isEmpty() || fault.isEmpty() ? "" : "; ").append(fault);
    }
    return faults.toString();
  }

  @Override
  public void close() {
    for (MappedEnd each : ends) {
      each.close();
    }
  }
}
