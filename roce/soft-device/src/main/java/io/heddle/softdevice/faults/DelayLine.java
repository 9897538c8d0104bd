package io.heddle.softdevice.faults;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Pause;
import io.heddle.softdevice.io.HeldPacket;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Simulated long wire: a FIFO of packets, each with its release time. Used under the progress lock.
 */
public final class DelayLine {
  /** Capacity in packets. Further packets are lost, as at a router. */
  static final int PACKETS = 4096;

  private static final int SLOT_BYTES = FaultGate.SLOT_BYTES;
  private static final int MASK = PACKETS - 1;

  private final long slots;
  private final HeldPacket released;
  private final int[] bytes = new int[PACKETS];
  private final long[] highs = new long[PACKETS];
  private final long[] lows = new long[PACKETS];
  private final int[] ports = new int[PACKETS];
  private final long[] dues = new long[PACKETS];
  private long head;
  private long tail;

  public DelayLine(Arena arena) {
    slots = Memory.allocate(arena, (long) PACKETS * SLOT_BYTES, 64);
    released =
        new HeldPacket(
            Memory.ALL.asSlice(slots, (long) PACKETS * SLOT_BYTES).asByteBuffer(), slots);
  }

  /**
   * Adds a packet for release at this time, or at the release of the packet before it if that is
   * later.
   */
  public void add(long packet, int packetBytes, long high, long low, int port, long dueNs) {
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

  /** Returns the next packet that is due, valid until the next call; null if there is none. */
  public @Nullable HeldPacket takeDue(long nowNs) {
    int index = (int) head & MASK;
    if (head == tail || nowNs - dues[index] < 0) {
      return null;
    }
    released.address = slots + (long) index * SLOT_BYTES;
    released.bytes = bytes[index];
    released.sourceHigh = highs[index];
    released.sourceLow = lows[index];
    released.sourcePort = ports[index];
    head++;
    return released;
  }

  /** Returns the time at which the next packet is due, or {@link Pause#NEVER_NS}. */
  public long dueNs() {
    return head == tail ? Pause.NEVER_NS : dues[(int) head & MASK];
  }
}
