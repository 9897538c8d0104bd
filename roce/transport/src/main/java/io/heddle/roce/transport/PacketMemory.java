package io.heddle.roce.transport;

import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.PacketSeal;

/**
 * The memory that the packets of a queue pair are made in, which is its owner's, and their seal.
 * Under the progress lock.
 */
public final class PacketMemory {
  /* control packet | a slot of responses | a slot of scratch | the ring's first area | its second */
  private static final int CONTROL_BYTES = 4096;

  /** Where the ring's first area begins. */
  public static final int RING_AT = CONTROL_BYTES + 2 * TransmitRing.SLOT_BYTES;

  /** Where its second area begins, which is used once a train has been lent. */
  public static final int SECOND_AREA_AT = RING_AT + TransmitRing.AREA_BYTES;

  /** All that it takes, of which only what is used costs pages. */
  public static final int BYTES = SECOND_AREA_AT + TransmitRing.AREA_BYTES;

  private final long base;
  private final PacketSeal seal;
  private final TransmitRing ring;

  /**
   * @param base address of {@link #BYTES}
   * @param trains of the whole device
   * @param shares of all its rings
   * @param firstFlow that packets are sealed for at first
   */
  public PacketMemory(long base, LargeTrains trains, RingShares shares, FlowChecksum firstFlow) {
    this.base = base;
    ring = new TransmitRing(base + RING_AT, trains, shares);
    seal = new PacketSeal(base, BYTES, firstFlow);
  }

  public TransmitRing ring() {
    return ring;
  }

  public PacketSeal seal() {
    return seal;
  }

  /** Room for a packet of our own, such as an acknowledgement. */
  public long controlPacket() {
    return base;
  }

  /** Room for a train of responses. */
  public long responseSlot() {
    return base + CONTROL_BYTES;
  }

  /** Room for what is made, sent and forgotten. */
  public long scratch() {
    return base + CONTROL_BYTES + TransmitRing.SLOT_BYTES;
  }
}
