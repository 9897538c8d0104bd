package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of unicast datagrams that keeps the numbers of queue pairs. It also keeps addresses,
 * unless the bridge has proxy addresses. Used by the data thread only.
 */
public final class UnicastForwarder extends HostForwarder {
  /** Maximum number of pairs of communicating hosts, in each direction. */
  static final int MOST_PAIRS = 65_536;

  private static final int FABRICS = 2;

  private final FabricPort[] fabrics;
  private final UnicastSettings settings;
  private final QueuePairOne queuePairOne;
  private final PairTable[] pairs = new PairTable[FABRICS];
  /* Flow of the current train. Set before any of its packets is forwarded. */
  private @Nullable LimitedFlow flow;

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
    super(
        fabrics.stream().map(FabricPort::packets).toList(),
        counters,
        limiter,
        settings.proxyAddresses());
    this.fabrics = fabrics.toArray(FabricPort[]::new);
    this.settings = settings;
    queuePairOne = new QueuePairOne(arena, this.fabrics, settings, counters, ids);
    for (int side = 0; side < FABRICS; side++) {
      pairs[side] = new PairTable(MOST_PAIRS);
    }
  }

  /* The host pairs refer to the previous addresses. Later packets add pairs again. */
  @Override
  void follow(boolean changed) {
    for (int side = 0; changed && side < FABRICS; side++) {
      pairs[side].clear();
      countPairs(side);
    }
  }

  @Override
  @Nullable DropReason begin(
      int side, TrainBatch batch, int train, LoopRules from, LoopRules to, long nowNs) {
    DropReason against = from.dropReason(batch.sourceHigh[train], batch.sourceLow[train]);
    if (against == null) {
      against = dropReasonOfEnds(side, batch, train, to);
    }
    if (against == null) {
      flow = flowOf(side, batch, train, nowNs);
    }
    return against;
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
    LimitedFlow known =
        table.find(
            batch.sourceHigh[train],
            batch.sourceLow[train],
            batch.destinationHigh[train],
            batch.destinationLow[train],
            nowNs);
    return known == null ? newFlow(side, batch, train, nowNs) : known;
  }

  private LimitedFlow newFlow(int side, TrainBatch batch, int train, long nowNs) {
    HostPair near = near(batch, train);
    HostPair far = far(near);
    SendPath sendPath =
        fabrics[1 - side].sendPathBetween(far.source(), far.destination(), settings.trafficClass());
    LimitedFlow made = new LimitedFlow(1 - side, sendPath, RateLimit.NONE, counters[side], nowNs);
    Gid source = near.source();
    Gid destination = near.destination();
    pairs[side].add(
        source.high(), source.low(), destination.high(), destination.low(), made, nowNs);
    countPairs(side);
    return made;
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

  @Override
  @Nullable DropReason forwardIntact(
      int side, int train, long packet, int length, int crc, LoopRules to, long nowNs) {
    TrainBatch batch = ports[side].batch();
    boolean ipv4 = farDestination == null ? batch.isToIpv4(train) : farDestination.isIpv4Mapped();
    if (isTooLarge(side, length, ipv4)) {
      return DropReason.TOO_LARGE;
    }
    int sentCrc = crc;
    if (PacketFormat.queuePair(packet) == ManagementDatagram.QUEUE_PAIR) {
      HostPair near = near(batch, train);
      DropReason against = queuePairOne.take(side, packet, length, near, far(near), nowNs);
      if (against != null) {
        return against;
      }
      sentCrc = ports[side].checksum(packet, length - PacketFormat.ICRC_BYTES);
    }
    offer(Objects.requireNonNull(flow), side, train, packet, length, sentCrc, nowNs);
    return null;
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
