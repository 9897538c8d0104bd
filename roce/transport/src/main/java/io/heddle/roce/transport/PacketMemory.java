package io.heddle.roce.transport;

import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;

/**
 * Memory in which a queue pair builds its packets, and the writer of their invariant CRCs. The
 * queue pair's owner allocates the memory. Used under the progress lock.
 */
public final class PacketMemory {
  /* control packet | slot for responses | slot of scratch memory | first area of the ring | second area */
  private static final int CONTROL_BYTES = 4096;

  /** Offset of the ring's first area. */
  public static final int RING_AT = CONTROL_BYTES + 2 * TransmitRing.SLOT_BYTES;

  /** Offset of the ring's second area, which is used after the first zero-copy train. */
  public static final int SECOND_AREA_AT = RING_AT + TransmitRing.AREA_BYTES;

  /** Total length in bytes; only touched pages take memory. */
  public static final int BYTES = SECOND_AREA_AT + TransmitRing.AREA_BYTES;

  private final long base;
  private final IcrcWriter icrc;
  private final TransmitRing ring;

  /**
   * @param base address of {@link #BYTES} bytes of memory
   * @param trains counters of the whole device
   * @param shares limit that all the device's transmit rings share
   * @param firstFlow flow whose addresses and ports the CRCs cover initially
   */
  public PacketMemory(long base, LargeTrains trains, RingShares shares, FlowChecksum firstFlow) {
    this.base = base;
    ring = new TransmitRing(base + RING_AT, trains, shares);
    icrc = new IcrcWriter(base, BYTES, firstFlow);
  }

  public TransmitRing ring() {
    return ring;
  }

  public IcrcWriter icrcWriter() {
    return icrc;
  }

  /** Returns the address for a control packet, such as an acknowledgement. */
  public long controlPacket() {
    return base;
  }

  /** Returns the address for a train of responses. */
  public long responseSlot() {
    return base + CONTROL_BYTES;
  }

  /** Returns the address of scratch memory, for packets that aren't kept. */
  public long scratch() {
    return base + CONTROL_BYTES + TransmitRing.SLOT_BYTES;
  }
}
