package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.DeviceContext.CounterReader;

/**
 * Counters of a device since it was opened. Written under the progress lock, read by any thread.
 */
public final class Counters {
  private final DropCounters drops = new DropCounters();
  private final LargeTrains trains = new LargeTrains();
  private volatile long packetsSent;
  private volatile long bytesSent;
  private volatile long packetsResent;
  private volatile long packetsSpuriouslyResent;
  private volatile long packetsReceived;
  private volatile long timeouts;
  private volatile long waitsForPeer;
  private volatile long acknowledgementsCarried;
  private volatile long packetsBundled;
  private volatile long packetsMarked;
  private volatile long packetsInFragments;
  private volatile long congestionNotifications;

  public DropCounters drops() {
    return drops;
  }

  public LargeTrains trains() {
    return trains;
  }

  /*
   * Only the lock's holder writes, so reading and storing a counter needn't be one atomic step.
   * Volatile stores are rare: one per train.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void sent(int packets, int bytes) {
    packetsSent += packets;
    bytesSent += bytes;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void resent(int packets) {
    packetsResent += packets;
  }

  /**
   * Counts spurious retransmissions: packets whose earlier transmission wasn't lost, only delayed
   * by a path that reorders.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void spuriouslyResent(int packets) {
    if (packets > 0) {
      packetsSpuriouslyResent += packets;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void received(int packets) {
    packetsReceived += packets;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void timedOut() {
    timeouts++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void waitsForPeer() {
    waitsForPeer++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void acknowledgementCarried() {
    acknowledgementsCarried++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void bundled(int packets) {
    if (packets > 0) {
      packetsBundled += packets;
    }
  }

  /** Counts packets with a congestion mark in their IP header. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void marked(int packets) {
    packetsMarked += packets;
  }

  /** Counts a packet that the kernel reassembled from IP fragments. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void receivedInFragments() {
    packetsInFragments++;
  }

  /**
   * Counts a packet with an opcode that no queue pair supports. Congestion notifications (CNPs)
   * have a counter of their own and don't count as drops. They are ignored, since the send window
   * adapts only to losses and round trips.
   *
   * @param firstWord first word of the packet's base transport header
   */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void unknown(int opcode, long firstWord) {
    if (opcode == PacketFormat.CONGESTION_NOTIFICATION) {
      congestionNotifications++;
    } else if (opcode == PacketFormat.DATAGRAM_ONLY
        && PacketFormat.queuePairOf(firstWord) == PacketFormat.MANAGEMENT_QUEUE_PAIR) {
      drops.count(DropCounters.Reason.MANAGEMENT);
    } else {
      drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
    }
  }

  public void read(CounterReader reader) {
    reader.counter("packets_sent", packetsSent);
    reader.counter("bytes_sent", bytesSent);
    reader.counter("packets_resent", packetsResent);
    reader.counter("packets_resent_in_vain", packetsSpuriouslyResent);
    reader.counter("packets_received", packetsReceived);
    reader.counter("timeouts", timeouts);
    reader.counter("waits_for_peer", waitsForPeer);
    reader.counter("acknowledgements_carried", acknowledgementsCarried);
    reader.counter("packets_bundled", packetsBundled);
    reader.counter("packets_marked", packetsMarked);
    reader.counter("packets_in_fragments", packetsInFragments);
    reader.counter("congestion_notifications", congestionNotifications);
    trains.read(reader);
    drops.read(reader);
  }

  public long packetsSent() {
    return packetsSent;
  }

  public long packetsResent() {
    return packetsResent;
  }

  /** Returns a number that changes with every packet sent or received and every timeout. */
  public long activity() {
    return packetsSent + packetsReceived + timeouts;
  }

  public long packetsSpuriouslyResent() {
    return packetsSpuriouslyResent;
  }

  public long timeouts() {
    return timeouts;
  }

  /**
   * Returns how often a queue pair kept waiting although its retries were exhausted, because its
   * peer was silent on all paths.
   */
  public long peerWaits() {
    return waitsForPeer;
  }

  /** Returns the number of acknowledgements that were sent with another packet. */
  public long acknowledgementsCarried() {
    return acknowledgementsCarried;
  }

  /** Returns the number of packets that shared a datagram with other packets. */
  public long packetsBundled() {
    return packetsBundled;
  }
}
