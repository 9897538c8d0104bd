package io.heddle.softdevice.io;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.wire.PacketFormat;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Bundle of small packets from any queue pairs to one soft device, sent as one datagram: a
 * datagram's cost hardly depends on its length.
 *
 * <p>On the wire: a BTH with a manufacturer-defined opcode, addressed to the peer of the queue pair
 * whose socket sends the bundle. Then for each packet its length (2 bytes), source port (2 bytes)
 * and bytes, in network order. The bytes include the invariant CRC. The CRC covers the source port
 * too; it is the port of the packet's own queue pair. So the receiver processes each packet like
 * one that came in a datagram of its own, and the bundle needs no checksum. Each device has one
 * bundle, used under the progress lock.
 */
public final class Bundle {
  /**
   * Length of the largest train that starts a bundle. A larger train is faster to send directly
   * than to copy.
   */
  static final int MOST_FIRST_BYTES = 512;

  /** Length of the entry header before a packet. */
  public static final int ENTRY_BYTES = 4;

  /** Result of {@link #readEntry} for an invalid entry. */
  public static final int INVALID = 0;

  private static final int MOST_BYTES =
      PacketFormat.WRITE_ONLY_BYTES + PacketFormat.IMMEDIATE_BYTES + 4096;

  private final long memory;
  private int used;
  private int packets;
  private boolean urgent;
  private @Nullable PeerLink carrier;

  Bundle(Arena arena) {
    memory = Memory.allocate(arena, MOST_BYTES, 64);
    clear();
  }

  void clear() {
    used = PacketFormat.BTH_BYTES;
    packets = 0;
    urgent = false;
    carrier = null;
  }

  boolean isEmpty() {
    return packets == 0;
  }

  /** Returns whether a train may join this bundle, and fits it. */
  boolean canAdd(PeerLink link, long train, int count, int bytes, int segmentBytes) {
    PeerLink sendingLink = carrier;
    if (sendingLink == null) {
      return bytes <= MOST_FIRST_BYTES && count * ENTRY_BYTES + bytes <= room(link);
    }
    return used + count * ENTRY_BYTES + bytes <= Math.min(room(link), room(sendingLink))
        && (sendingLink == link
            || sendingLink.hasSamePath(link) && mayJoinBundle(train, bytes, segmentBytes));
  }

  /*
   * Returns the largest length of a bundle on a link: that of the link's longest packet within the
   * path MTU.
   */
  private static int room(PeerLink link) {
    return Math.min(MOST_BYTES, link.standardPacketBytes());
  }

  /*
   * Returns whether the peer accepts all packets of a train in any order. Only such packets may
   * join a bundle of another queue pair, since they may be reordered on that queue pair's socket.
   */
  private static boolean mayJoinBundle(long train, int bytes, int segmentBytes) {
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

  /** Adds a train for which {@link #canAdd} is true. */
  void add(PeerLink link, long train, int bytes, int segmentBytes) {
    if (carrier == null) {
      carrier = link;
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
   * Reads the entry header at this address in a received bundle, whose end is the other address.
   *
   * @return length of the packet, shifted left by 16, and its source port; {@link #INVALID} for an
   *     entry that can't be right, which is counted
   */
  public static int readEntry(long at, long end, DropCounters drops) {
    long packet = at + ENTRY_BYTES;
    int lengthAndPort = packet < end ? PacketFormat.networkInt(at) : 0;
    int length = lengthAndPort >>> 16;
    if (length == 0 || length > end - packet) {
      drops.count(DropCounters.Reason.BAD_LENGTH);
      return INVALID;
    }
    if (PacketFormat.opcode(packet) == PacketFormat.BUNDLE) {
      drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
      return INVALID;
    }
    return lengthAndPort;
  }

  /**
   * Returns whether a receiver may wait for the bundle: it has packets other than WRITEs without
   * immediate and acknowledgements.
   */
  boolean isUrgent() {
    return urgent;
  }

  /** Returns the link that will send the bundle, or null while the bundle is empty. */
  @Nullable PeerLink pendingLink() {
    return carrier;
  }

  /** Returns the number of packets that share the datagram; 0 for a single packet. */
  int bundledPackets() {
    return packets > 1 ? packets : 0;
  }

  /** Returns the address of the datagram. A single packet is sent without the bundle header. */
  long address() {
    return packets > 1 ? memory : memory + PacketFormat.BTH_BYTES + ENTRY_BYTES;
  }

  /** Returns the length of the datagram. */
  int lengthBytes() {
    return packets > 1 ? used : used - PacketFormat.BTH_BYTES - ENTRY_BYTES;
  }
}
