package io.heddle.softdevice;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Pause;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/**
 * Simulated long wire: a FIFO of packets, each with its release time. Used under the progress lock.
 */
final class DelayLine {
  /** Capacity in packets. Further packets are lost, as at a router. */
  static final int PACKETS = 4096;

  private static final int SLOT_BYTES = FaultGate.SLOT_BYTES;
  private static final int MASK = PACKETS - 1;

  private final long slots;
  private final ByteBuffer view;
  private final int[] bytes = new int[PACKETS];
  private final long[] highs = new long[PACKETS];
  private final long[] lows = new long[PACKETS];
  private final int[] ports = new int[PACKETS];
  private final long[] dues = new long[PACKETS];
  private long head;
  private long tail;

  DelayLine(Arena arena) {
    slots = Memory.allocate(arena, (long) PACKETS * SLOT_BYTES, 64);
    view = Memory.ALL.asSlice(slots, (long) PACKETS * SLOT_BYTES).asByteBuffer();
  }

  /**
   * Adds a packet for release at this time, or at the release of the packet before it if that is
   * later.
   */
  void add(long packet, int packetBytes, long high, long low, int port, long dueNs) {
    if (tail - head == PACKETS || packetBytes > SLOT_BYTES) {
      return;
    }
    int index = (int) tail & MASK;
    int before = (int) (tail - 1) & MASK;
    Memory.copy(packet, slots + (long) index * SLOT_BYTES, packetBytes);
    bytes[index] = packetBytes;
    highs[index] = high;
    lows[index] = low;
    ports[index] = port;
    dues[index] = tail == head ? dueNs : Math.max(dueNs, dues[before]);
    tail++;
  }

  /** Passes due packets to the sink. Returns their number. */
  int release(PacketSink sink, long nowNs) {
    int released = 0;
    while (head < tail && nowNs - dues[(int) head & MASK] >= 0) {
      int index = (int) head & MASK;
      long packet = slots + (long) index * SLOT_BYTES;
      sink.onPacket(
          view, slots, packet, bytes[index], highs[index], lows[index], ports[index], nowNs);
      head++;
      released++;
    }
    return released;
  }

  /** Returns the time at which the next packet is due, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return head == tail ? Pause.NEVER_NS : dues[(int) head & MASK];
  }
}
