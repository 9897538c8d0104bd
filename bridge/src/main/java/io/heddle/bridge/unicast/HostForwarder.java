package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.StormGuard;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Forwarder of unicast datagrams between both fabrics. Each dropped packet is counted under its
 * reason. A process has one kind of forwarder. Used by the data thread only.
 */
public abstract class HostForwarder implements AutoCloseable {
  final PacketPort[] ports;
  final long[] counters;
  final Limiter limiter;
  ProxyAddresses proxyAddresses;
  /* Source and destination of the current train, as the other fabric addresses them. */
  @Nullable Gid farSource;
  @Nullable Gid farDestination;

  /**
   * @param ports data sides of the ports in fabric a and b
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param limiter limiter of the forwarded packets
   * @param proxyAddresses current proxy addresses
   */
  HostForwarder(
      List<PacketPort> ports, long[] counters, Limiter limiter, ProxyAddresses proxyAddresses) {
    this.ports = ports.toArray(PacketPort[]::new);
    this.counters = counters.clone();
    this.limiter = limiter;
    this.proxyAddresses = proxyAddresses;
  }

  /**
   * Forwards a unicast train of a fabric's batch. Both fabrics must be flushed afterwards.
   *
   * @param side fabric that the train came from, 0 for a
   * @param train index in the batch
   * @param from source filter of that fabric
   * @param to source filter of the other fabric
   * @param now current proxy addresses; none if hosts see each other's own addresses
   */
  public final void forward(int side, int train, LoopRules from, LoopRules to, ProxyAddresses now) {
    long nowNs = System.nanoTime();
    if (now != proxyAddresses) {
      boolean changed = !now.equals(proxyAddresses);
      proxyAddresses = now;
      follow(changed);
    }
    TrainBatch batch = ports[side].batch();
    int packets = batch.packets(train);
    GroupCounters.arrived(counters[side], packets);
    DropReason against = begin(side, batch, train, from, to, nowNs);
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

  private @Nullable DropReason forwardPacket(
      int side, int train, long packet, int length, LoopRules to, long nowNs) {
    if (!DatagramFormat.isDatagram(packet, length)) {
      return DropReason.MALFORMED;
    }
    int number = PacketFormat.queuePair(packet);
    if (number == 0 || number == DatagramFormat.MULTICAST_QUEUE_PAIR) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    int covered = length - PacketFormat.ICRC_BYTES;
    int crc = ports[side].checksum(packet, covered);
    return ports[side].isIntact(train, packet, covered, crc)
        ? forwardIntact(side, train, packet, length, crc, to, nowNs)
        : DropReason.BAD_CHECKSUM;
  }

  /** Offers a packet to the limiter. */
  final void offer(
      LimitedFlow flow, int side, int train, long packet, int length, int crc, long nowNs) {
    long digest = StormGuard.digest(crc, packet, length - PacketFormat.ICRC_BYTES);
    long arrivedNs = ports[side].batch().arrivedNs[train];
    limiter.offer(flow, packet, length, crc, digest, arrivedNs, nowNs);
  }

  final boolean isTooLarge(int side, int length, boolean ipv4) {
    return length > ports[1 - side].mostBytes(ipv4);
  }

  /** Returns source and destination of a train as received. */
  static HostPair near(TrainBatch batch, int train) {
    return new HostPair(
        new Gid(batch.sourceHigh[train], batch.sourceLow[train]),
        new Gid(batch.destinationHigh[train], batch.destinationLow[train]));
  }

  /**
   * Adopts the current proxy addresses.
   *
   * @param changed false if they are a copy of the previous ones
   */
  abstract void follow(boolean changed);

  /** Prepares for a train's packets; returns the reason to drop all of them, null for none. */
  abstract @Nullable DropReason begin(
      int side, TrainBatch batch, int train, LoopRules from, LoopRules to, long nowNs);

  /**
   * Forwards an intact packet.
   *
   * @param crc CRC of the packet from BTH to pad
   * @return the reason to drop it; null if it was forwarded or handled
   */
  abstract @Nullable DropReason forwardIntact(
      int side, int train, long packet, int length, int crc, LoopRules to, long nowNs);

  /** Expires requests and idle table entries of a fabric's hosts. */
  public abstract void expire(int side, long nowNs);

  /** Returns the current fault in words; empty for none. Control thread only. */
  public String check() {
    return "";
  }

  @Override
  public void close() {}
}
