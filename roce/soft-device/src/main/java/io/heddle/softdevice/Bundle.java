package io.heddle.softdevice;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.wire.PacketFormat;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Small packets to one soft device, of whichever queue pairs, gathered to leave as one datagram:
 * what a datagram costs hardly depends on how much is in it.
 *
 * <p>On the wire: a base transport header whose opcode is of those that the InfiniBand architecture
 * leaves to manufacturers and whose queue pair is the one by whose socket the bundle leaves, then
 * for each packet {@code length 2 | source port 2 | packet}, network order. The packet is what
 * would have left alone, its invariant CRC included, and the port the one that it would have come
 * from, which that CRC covers. So the receiver takes each as if it had come alone, and the bundle
 * needs no checksum of its own. One per device; under the progress lock.
 */
final class Bundle {
  /** Of the train that begins one: a larger one is quicker sent as it is than copied. */
  static final int MOST_FIRST_BYTES = 512;

  /** What a packet has before it. */
  static final int ENTRY_BYTES = 4;

  private static final int MOST_BYTES =
      PacketFormat.WRITE_ONLY_BYTES + PacketFormat.IMMEDIATE_BYTES + 4096;

  private final long memory;
  private int used;
  private int packets;
  private boolean urgent;
  private @Nullable PeerLink way;

  Bundle(Arena arena) {
    memory = Memory.allocate(arena, MOST_BYTES, 64);
    clear();
  }

  void clear() {
    used = PacketFormat.BTH_BYTES;
    packets = 0;
    urgent = false;
    way = null;
  }

  boolean isEmpty() {
    return packets == 0;
  }

  /** Whether a train of so many packets can leave in it. */
  boolean takes(PeerLink link, long train, int count, int bytes, int segmentBytes) {
    PeerLink host = way;
    if (host == null) {
      return bytes <= MOST_FIRST_BYTES && count * ENTRY_BYTES + bytes <= room(link);
    }
    return used + count * ENTRY_BYTES + bytes <= Math.min(room(link), room(host))
        && (host == link || host.hasSamePath(link) && mayBeGuest(train, bytes, segmentBytes));
  }

  /* It may be as long as any packet by the link. */
  private static int room(PeerLink link) {
    return Math.min(MOST_BYTES, link.standardPacketBytes());
  }

  /* What is taken in any order: it may overtake, or be overtaken by, what leaves by its own socket. */
  private static boolean mayBeGuest(long train, int bytes, int segmentBytes) {
    for (int from = 0; from < bytes; from += segmentBytes) {
      int opcode = PacketFormat.opcode(train + from);
      if (opcode != PacketFormat.WRITE_ONLY
          && opcode != PacketFormat.WRITE_ONLY_WITH_IMMEDIATE
          && opcode != PacketFormat.ACKNOWLEDGE) {
        return false;
      }
    }
    return true;
  }

  /** Puts in a train that it {@link #takes}. */
  void add(PeerLink link, long train, int bytes, int segmentBytes) {
    if (way == null) {
      way = link;
      PacketFormat.writeBase(memory, PacketFormat.BUNDLE, 0, PacketFormat.queuePair(train), 0);
    }
    int port = link.sourcePort();
    for (int from = 0; from < bytes; from += segmentBytes) {
      int length = Math.min(segmentBytes, bytes - from);
      int opcode = PacketFormat.opcode(train + from);
      urgent |= opcode != PacketFormat.WRITE_ONLY && opcode != PacketFormat.ACKNOWLEDGE;
      Memory.ALL.set(Memory.NETWORK_INT, memory + used, length << 16 | port);
      Memory.copy(train + from, memory + used + ENTRY_BYTES, length);
      used += ENTRY_BYTES + length;
      packets++;
    }
  }

  /**
   * Opens one that came: hands on each packet in it, which is judged as if it had come alone.
   *
   * @return how many there were
   */
  static int open(
      PacketSink sink,
      DropCounters drops,
      ByteBuffer view,
      long base,
      long bundle,
      int bytes,
      long sourceHigh,
      long sourceLow,
      long nowNs) {
    long end = bundle + bytes;
    int packets = 0;
    for (long at = bundle + PacketFormat.BTH_BYTES; at < end; ) {
      long packet = at + ENTRY_BYTES;
      int lengthAndPort = packet < end ? PacketFormat.networkInt(at) : 0;
      int length = lengthAndPort >>> 16;
      if (length == 0 || length > end - packet) {
        drops.count(DropCounters.Reason.BAD_LENGTH);
        break;
      }
      if (PacketFormat.opcode(packet) == PacketFormat.BUNDLE) {
        drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
        break;
      }
      packets++;
      int port = lengthAndPort & 0xffff;
      sink.onPacket(view, base, packet, length, sourceHigh, sourceLow, port, nowNs);
      at = packet + length;
    }
    return packets;
  }

  /**
   * Whether somebody may wait for what is in it: anything but writes that tell nobody of themselves
   * and acknowledgements.
   */
  boolean isUrgent() {
    return urgent;
  }

  /** By which link it leaves; null while it is empty. */
  @Nullable PeerLink way() {
    return way;
  }

  /** How many packets leave in company. */
  int bundledPackets() {
    return packets > 1 ? packets : 0;
  }

  /** Where the datagram begins: one packet leaves as it is. */
  long address() {
    return packets > 1 ? memory : memory + PacketFormat.BTH_BYTES + ENTRY_BYTES;
  }

  /** Bytes of the datagram. */
  int lengthBytes() {
    return packets > 1 ? used : used - PacketFormat.BTH_BYTES - ENTRY_BYTES;
  }
}
