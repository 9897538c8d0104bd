package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.DeviceContext.CounterReader;

/**
 * What a device has done since it was opened. Written under the progress lock, read by any thread.
 */
public final class Counters {
  private final DropCounters drops = new DropCounters();
  private final LargeTrains trains = new LargeTrains();
  private volatile long packetsSent;
  private volatile long bytesSent;
  private volatile long packetsResent;
  private volatile long packetsResentInVain;
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

  /* One writer at a time, so that opaque or even plain reads of the own value are enough; the volatile stores are rare:
  one a train. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void sent(int packets, int bytes) {
    packetsSent += packets;
    bytesSent += bytes;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void resent(int packets) {
    packetsResent += packets;
  }

  /** The sending before had arrived too: packets overtake each other on the way. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void resentInVain(int packets) {
    if (packets > 0) {
      packetsResentInVain += packets;
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

  /** They came with a mark of congestion in their IP headers. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void marked(int packets) {
    packetsMarked += packets;
  }

  /** One came in fragments of IP, which the kernel has put together. */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  public void cameInFragments() {
    packetsInFragments++;
  }

  /**
   * A packet of a kind that no queue pair here takes. Congestion notifications are no error of
   * anybody's: the window follows the link without them.
   *
   * @param firstWord of its base transport header
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
    reader.counter("packets_resent_in_vain", packetsResentInVain);
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

  /** Another number once something was sent, received or waited for in vain. */
  public long activity() {
    return packetsSent + packetsReceived + timeouts;
  }

  public long packetsResentInVain() {
    return packetsResentInVain;
  }

  public long timeouts() {
    return timeouts;
  }

  /** How often a queue pair, past its retries, waited since its peer was silent on all ways. */
  public long peerWaits() {
    return waitsForPeer;
  }

  /** Acknowledgements that left behind another packet, not alone. */
  public long acknowledgementsCarried() {
    return acknowledgementsCarried;
  }

  /** Packets that left in a datagram with others. */
  public long packetsBundled() {
    return packetsBundled;
  }
}
