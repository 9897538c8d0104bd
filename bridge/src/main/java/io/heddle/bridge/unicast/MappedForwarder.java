package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of unicast datagrams between two fabrics, of which at least one is a libibverbs device.
 * Hosts in such a fabric know remote hosts by addresses and queue pairs of the bridge. On the wire,
 * packets contain the hosts' own queue pair numbers. Used by the data thread only.
 */
public final class MappedForwarder extends HostForwarder {
  /** Maximum number of conversations, which are pairs of communicating queue pairs. */
  static final int MOST_CONVERSATIONS = 262_144;

  private final MappedEnd[] ends;
  private final int trafficClass;
  private final QueuePairMapping mapping;
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
    super(List.of(a.packets(), b.packets()), counters, limiter, settings.proxyAddresses());
    ends = new MappedEnd[] {a, b};
    conversations = new Conversations(MOST_CONVERSATIONS, a.identifiesHosts(), b.identifiesHosts());
    bothIdentifyHosts = a.identifiesHosts() && b.identifiesHosts();
    this.mapping = mapping;
    trafficClass = settings.trafficClass();
    numbers = new QueuePairMap(ends, conversations);
    requests = new MappedRequests(arena, ends, trafficClass, counters, numbers, ids);
    requests.use(proxyAddresses);
    if (!proxyAddresses.all().isEmpty()) {
      serve();
    }
  }

  /*
   * The mapped numbers refer to the previous addresses, so all mappings are removed, and clients
   * must send new requests.
   */
  @Override
  void follow(boolean changed) {
    requests.use(proxyAddresses);
    if (changed) {
      numbers.clear();
      for (PairTable each : flows) {
        each.clear();
      }
      count();
      serve();
    }
  }

  private void serve() {
    for (int side = 0; side < ends.length; side++) {
      SidrService service = ends[side].service();
      if (service != null) {
        service.serve(proxyAddresses.addressesIn(side), mapping.ports());
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
  @Nullable DropReason begin(
      int side, TrainBatch batch, int train, LoopRules from, LoopRules to, long nowNs) {
    DropReason against = dropReasonOfSource(side, batch, train, from);
    return against == null ? readHosts(side, batch, train, to) : against;
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

  /*
   * Sets the far source and destination. They are null if the train's packets contain no hosts'
   * addresses.
   */
  private @Nullable DropReason readHosts(int side, TrainBatch batch, int train, LoopRules to) {
    farSource = null;
    farDestination = null;
    if (!ends[side].identifiesHosts()) {
      return null;
    }
    farSource = proxyAddresses.addressOf(side, batch.sourceHigh[train], batch.sourceLow[train]);
    farDestination =
        proxyAddresses.hostOf(side, batch.destinationHigh[train], batch.destinationLow[train]);
    if (farDestination == null
        || ends[1 - side].identifiesHosts()
            && to.dropReason(farDestination.high(), farDestination.low()) != null) {
      return DropReason.FOREIGN_DESTINATION;
    }
    return farSource == null || farSource.isIpv4Mapped() != farDestination.isIpv4Mapped()
        ? DropReason.NO_PROXY_ADDRESS
        : null;
  }

  @Override
  @Nullable DropReason forwardIntact(
      int side, int train, long packet, int length, int crc, LoopRules to, long nowNs) {
    if (PacketFormat.queuePair(packet) == ManagementDatagram.QUEUE_PAIR) {
      return forwardManagement(side, train, packet, length, nowNs);
    }
    Gid host = farDestination;
    if (host != null && isTooLarge(side, length, host.isIpv4Mapped())) {
      return DropReason.TOO_LARGE;
    }
    int slot = slotOf(side, ports[side].batch(), train, packet, nowNs);
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
    int sentCrc = ports[side].checksum(packet, length - PacketFormat.ICRC_BYTES);
    offer(flow, side, train, packet, length, sentCrc, nowNs);
    return null;
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
    if (farSource != null && farDestination != null) {
      ends[1 - side].sendPath(farSource, farDestination, trafficClass);
    }
    return DropReason.NO_PATH;
  }

  /*
   * Handles a packet to queue pair 1. Only on the wire: on a device, queue pair 1 belongs to the
   * kernel.
   */
  private @Nullable DropReason forwardManagement(
      int side, int train, long packet, int length, long nowNs) {
    if (ends[side].isDevice() || farSource == null || farDestination == null) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    TrainBatch batch = ports[side].batch();
    HostPair near = near(batch, train);
    HostPair far = new HostPair(farSource, farDestination);
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
    Gid far = farDestination;
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
    Gid from = farSource;
    Gid to = farDestination;
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
