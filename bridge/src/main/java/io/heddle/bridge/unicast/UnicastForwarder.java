package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.fabric.FabricPort;
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
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of unicast datagrams that keeps the numbers of queue pairs. It also keeps addresses,
 * unless the bridge has proxy addresses. Each dropped packet is counted under its reason. Used by
 * the data thread only.
 */
public final class UnicastForwarder implements HostForwarder {
  /** Maximum number of pairs of communicating hosts, in each direction. */
  static final int MOST_PAIRS = 65_536;

  private static final int FABRICS = 2;

  private final FabricPort[] fabrics;
  private final PacketPort[] ports;
  private final UnicastSettings settings;
  private final long[] counters;
  private final Limiter limiter;
  private final QueuePairOne queuePairOne;
  private final PairTable[] pairs = new PairTable[FABRICS];
  private ProxyAddresses proxyAddresses;
  /*
   * Source and destination of the current train, as the other fabric addresses them; null if the
   * addresses are unchanged.
   */
  private @Nullable Gid farSource;
  private @Nullable Gid farDestination;

  /**
   * @param fabrics ports in fabric a and b
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param limiter limiter of the forwarded packets
   * @param ids source of the bridge's own request ids
   */
  public UnicastForwarder(
      Arena arena,
      List<? extends FabricPort> fabrics,
      UnicastSettings settings,
      long[] counters,
      Limiter limiter,
      RandomGenerator ids) {
    this.fabrics = fabrics.toArray(FabricPort[]::new);
    ports = fabrics.stream().map(FabricPort::packets).toArray(PacketPort[]::new);
    this.settings = settings;
    this.counters = counters.clone();
    proxyAddresses = settings.proxyAddresses();
    this.limiter = limiter;
    queuePairOne = new QueuePairOne(arena, this.fabrics, settings, counters, ids);
    for (int side = 0; side < FABRICS; side++) {
      pairs[side] = new PairTable(MOST_PAIRS);
    }
  }

  @Override
  public void forward(int side, int train, LoopRules from, LoopRules to, ProxyAddresses now) {
    follow(now);
    TrainBatch batch = ports[side].batch();
    int packets = batch.packets(train);
    GroupCounters.arrived(counters[side], packets);
    DropReason against = from.dropReason(batch.sourceHigh[train], batch.sourceLow[train]);
    if (against == null) {
      against = dropReasonOfEnds(side, batch, train, to);
    }
    if (against != null) {
      GroupCounters.dropped(counters[side], against, packets);
      return;
    }
    long nowNs = System.nanoTime();
    LimitedFlow flow = flowOf(side, batch, train, nowNs);
    long packet = batch.address[train];
    long end = packet + batch.lengthBytes[train];
    int stride = batch.strideBytes[train];
    while (packet < end) {
      int length = (int) Math.min(stride, end - packet);
      forwardPacket(side, flow, train, packet, length, nowNs);
      packet += stride;
    }
  }

  /*
   * Adopts the current proxy addresses. The host pairs refer to the previous addresses, so all
   * pairs are removed. Later packets add pairs again.
   */
  private void follow(ProxyAddresses now) {
    if (now != proxyAddresses) {
      boolean changed = !now.equals(proxyAddresses);
      proxyAddresses = now;
      for (int side = 0; changed && side < FABRICS; side++) {
        pairs[side].clear();
        countPairs(side);
      }
    }
  }

  private @Nullable DropReason dropReasonOfEnds(
      int side, TrainBatch batch, int train, LoopRules to) {
    long high = batch.destinationHigh[train];
    long low = batch.destinationLow[train];
    if (settings.isTransparent()) {
      return to.dropReason(high, low) == null ? null : DropReason.FOREIGN_DESTINATION;
    }
    Gid destination = proxyAddresses.hostOf(side, high, low);
    if (destination == null || to.dropReason(destination.high(), destination.low()) != null) {
      return DropReason.FOREIGN_DESTINATION;
    }
    Gid source = proxyAddresses.addressOf(side, batch.sourceHigh[train], batch.sourceLow[train]);
    if (source == null || source.isIpv4Mapped() != destination.isIpv4Mapped()) {
      return DropReason.NO_PROXY_ADDRESS;
    }
    farSource = source;
    farDestination = destination;
    return null;
  }

  private LimitedFlow flowOf(int side, TrainBatch batch, int train, long nowNs) {
    PairTable table = pairs[side];
    LimitedFlow flow =
        table.find(
            batch.sourceHigh[train],
            batch.sourceLow[train],
            batch.destinationHigh[train],
            batch.destinationLow[train],
            nowNs);
    return flow == null ? newFlow(side, batch, train, nowNs) : flow;
  }

  private LimitedFlow newFlow(int side, TrainBatch batch, int train, long nowNs) {
    HostPair near = near(batch, train);
    HostPair far = far(near);
    SendPath sendPath =
        fabrics[1 - side].sendPathBetween(far.source(), far.destination(), settings.trafficClass());
    LimitedFlow flow = new LimitedFlow(1 - side, sendPath, RateLimit.NONE, counters[side], nowNs);
    Gid source = near.source();
    Gid destination = near.destination();
    pairs[side].add(
        source.high(), source.low(), destination.high(), destination.low(), flow, nowNs);
    countPairs(side);
    return flow;
  }

  private static HostPair near(TrainBatch batch, int train) {
    return new HostPair(
        new Gid(batch.sourceHigh[train], batch.sourceLow[train]),
        new Gid(batch.destinationHigh[train], batch.destinationLow[train]));
  }

  private HostPair far(HostPair near) {
    return farSource == null || farDestination == null
        ? near
        : new HostPair(farSource, farDestination);
  }

  private void countPairs(int side) {
    PairTable table = pairs[side];
    UnicastCounters.pairs(counters[side], table.size(), table.evicted(), table.aged());
  }

  private void forwardPacket(
      int side, LimitedFlow flow, int train, long packet, int length, long nowNs) {
    PacketPort from = ports[side];
    int covered = length - PacketFormat.ICRC_BYTES;
    boolean datagram = DatagramFormat.isDatagram(packet, length);
    int crc = datagram ? from.checksum(packet, covered) : 0;
    DropReason against = datagram ? check(side, train, packet, length, crc) : DropReason.MALFORMED;
    if (against == null && PacketFormat.queuePair(packet) == ManagementDatagram.QUEUE_PAIR) {
      HostPair near = near(from.batch(), train);
      against = queuePairOne.take(side, packet, length, near, far(near), nowNs);
      crc = from.checksum(packet, covered);
    }
    if (against != null) {
      GroupCounters.dropped(counters[side], against, 1);
      return;
    }
    long digest = StormGuard.digest(crc, packet, covered);
    long arrivedNs = from.batch().arrivedNs[train];
    limiter.offer(flow, packet, length, crc, digest, arrivedNs, nowNs);
  }

  private @Nullable DropReason check(int side, int train, long packet, int length, int crc) {
    int queuePair = PacketFormat.queuePair(packet);
    if (queuePair == 0 || queuePair == DatagramFormat.MULTICAST_QUEUE_PAIR) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    PacketPort from = ports[side];
    int covered = length - PacketFormat.ICRC_BYTES;
    if (!from.isIntact(train, packet, covered, crc)) {
      return DropReason.BAD_CHECKSUM;
    }
    boolean ipv4 =
        farDestination == null ? from.batch().isToIpv4(train) : farDestination.isIpv4Mapped();
    return length > ports[1 - side].mostBytes(ipv4) ? DropReason.TOO_LARGE : null;
  }

  @Override
  public void expire(int side, long nowNs) {
    queuePairOne.expire(side, nowNs);
    int before = pairs[side].size();
    pairs[side].expire(nowNs);
    if (pairs[side].size() != before) {
      countPairs(side);
    }
  }
}
