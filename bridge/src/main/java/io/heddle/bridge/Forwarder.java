package io.heddle.bridge;

import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.StormGuard;
import io.heddle.bridge.pgm.PgmObserver;
import io.heddle.bridge.pgm.PgmSessions;
import io.heddle.bridge.redundancy.ForwardingGate;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.HostForwarder;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of packets from one fabric to the other. It finds the group of each packet, checks the
 * packet, and offers it to the limiter without copying it. Each dropped packet is counted under its
 * group and reason. Used by the data thread only.
 */
final class Forwarder {
  private final int side;
  private final PacketPort from;
  private final PacketPort to;
  private final long fabricCounters;
  private final StormGuard sentBack;
  private final Limiter limiter;
  private final @Nullable HostForwarder unicast;
  private final boolean payloadDigests;

  /**
   * @param side 0 if packets come from fabric a
   * @param fabricCounters address of the source fabric's counters
   * @param sentBack storm guard of the source fabric
   * @param limiter limiter of the forwarded packets
   * @param unicast forwarder of unicast datagrams; null for none
   */
  Forwarder(
      int side,
      PacketPort from,
      PacketPort to,
      long fabricCounters,
      StormGuard sentBack,
      Limiter limiter,
      @Nullable HostForwarder unicast) {
    this.side = side;
    this.from = from;
    this.to = to;
    this.fabricCounters = fabricCounters;
    this.sentBack = sentBack;
    this.limiter = limiter;
    this.unicast = unicast;
    payloadDigests = !from.keepsHeaders() || !to.keepsHeaders();
  }

  /**
   * Returns whether no packets are pending in the source fabric, so that the data thread may sleep
   * until its file descriptor is readable.
   */
  boolean maySleep() {
    return from.maySleep();
  }

  /**
   * Polls the source fabric once, and forwards the received packets.
   *
   * @return number of received segment trains
   */
  int forward(BridgeTables tables) {
    LoopRules rules = tables.rules().get(side);
    int trains = from.poll();
    TrainBatch batch = from.batch();
    for (int train = 0; train < trains; train++) {
      GatedGroup served =
          tables.groups().find(batch.destinationHigh[train], batch.destinationLow[train]);
      if (served == null) {
        forwardUngrouped(batch, train, tables);
      } else {
        GroupCounters.arrived(served.group().counters(side), batch.packets(train));
        forwardTrain(served.group(), served.gate(), rules, batch, train);
      }
    }
    if (trains > 0) {
      to.flush();
    }
    PgmSessions pgm = tables.pgm();
    if (pgm != null && side == 0) {
      pgm.expire(System.nanoTime());
    }
    if (unicast != null) {
      unicast.expire(side, System.nanoTime());
    }
    return trains;
  }

  private void forwardUngrouped(TrainBatch batch, int train, BridgeTables tables) {
    if (batch.isMulticast(train)) {
      FabricCounter.UNKNOWN_GROUP.add(fabricCounters, batch.packets(train));
    } else if (unicast != null) {
      unicast.forward(
          side,
          train,
          tables.rules().get(side),
          tables.rules().get(1 - side),
          tables.proxyAddresses());
    } else {
      FabricCounter.UNICAST.add(fabricCounters, batch.packets(train));
    }
  }

  private void forwardTrain(
      BridgedGroup group, ForwardingGate gate, LoopRules rules, TrainBatch batch, int train) {
    long now = System.nanoTime();
    long counters = group.counters(side);
    int packets = batch.packets(train);
    DropReason against = rules.dropReason(batch.sourceHigh[train], batch.sourceLow[train]);
    if (against == null && batch.crossed[train]) {
      against = DropReason.FOREIGN_SOURCE;
    }
    LimitedFlow flow = group.flowFrom(side);
    if (against == null && flow == null) {
      against = DropReason.ONE_WAY;
    }
    if (against == null) {
      against = gate.dropReason(batch.notBeforeNs[train], batch.arrivedNs[train], now);
    }
    if (against == null && group.isSuspended()) {
      against = DropReason.SUSPENDED;
    }
    if (against != null || flow == null) {
      pauseObservation(group, against);
      GroupCounters.dropped(counters, against == null ? DropReason.ONE_WAY : against, packets);
      return;
    }
    long packet = batch.address[train];
    long end = packet + batch.lengthBytes[train];
    int stride = batch.strideBytes[train];
    while (packet < end) {
      int length = (int) Math.min(stride, end - packet);
      forwardPacket(group, flow, train, packet, length, now);
      packet += stride;
    }
  }

  /* Pauses the observation of PGM, so that packets dropped meanwhile don't count as lost. */
  private void pauseObservation(BridgedGroup group, @Nullable DropReason against) {
    PgmObserver pgm = group.pgm();
    if (pgm != null
        && (against == DropReason.STANDBY
            || against == DropReason.NO_OWNER
            || against == DropReason.SUSPENDED)) {
      pgm.pause(side);
    }
  }

  private void forwardPacket(
      BridgedGroup group, LimitedFlow flow, int train, long packet, int length, long nowNs) {
    long counters = group.counters(side);
    if (!DatagramFormat.isDatagram(packet, length)) {
      GroupCounters.dropped(counters, DropReason.MALFORMED, 1);
      return;
    }
    if (PacketFormat.queuePair(packet) != DatagramFormat.MULTICAST_QUEUE_PAIR) {
      GroupCounters.dropped(counters, DropReason.NOT_MULTICAST, 1);
      return;
    }
    int covered = length - PacketFormat.ICRC_BYTES;
    int crc = from.checksum(packet, covered);
    if (!from.isIntact(train, packet, covered, crc)) {
      GroupCounters.dropped(counters, DropReason.BAD_CHECKSUM, 1);
      return;
    }
    long digest =
        payloadDigests
            ? StormGuard.payloadDigest(group.settings().address(), packet, length)
            : StormGuard.digest(crc, packet, covered);
    if (sentBack.wasSent(digest, nowNs)) {
      GroupCounters.dropped(counters, DropReason.STORM_COPY, 1);
      group.countReturnedCopy(nowNs);
      return;
    }
    PgmObserver pgm = group.pgm();
    if (pgm != null) {
      observePgm(pgm, train, packet, length, nowNs);
    }
    if (length > to.mostBytes(group.settings().address().isIpv4Mapped())) {
      GroupCounters.dropped(counters, DropReason.TOO_LARGE, 1);
      return;
    }
    if (group.shouldDropNext(side)) {
      GroupCounters.dropped(counters, DropReason.INJECTED, 1);
      return;
    }
    long arrivedNs = from.batch().arrivedNs[train];
    limiter.offer(flow, packet, length, crc, digest, arrivedNs, nowNs);
  }

  private void observePgm(PgmObserver pgm, int train, long packet, int length, long nowNs) {
    TrainBatch batch = from.batch();
    long payload = packet + DatagramFormat.headerBytes(PacketFormat.opcode(packet));
    int bytes = DatagramFormat.payloadBytes(packet, length);
    pgm.observe(side, payload, bytes, batch.sourceHigh[train], batch.sourceLow[train], nowNs);
  }
}
