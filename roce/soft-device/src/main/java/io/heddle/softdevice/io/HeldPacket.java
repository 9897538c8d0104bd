package io.heddle.softdevice.io;

import java.nio.ByteBuffer;

/** Packet that a {@link PacketGate} has held and releases. A value holder that its gate reuses. */
public final class HeldPacket {
  /** Buffer that contains the packet; its offset 0 is {@link #base}. */
  public final ByteBuffer view;

  public final long base;
  public long address;
  public int bytes;
  public long sourceHigh;
  public long sourceLow;
  public int sourcePort;

  public HeldPacket(ByteBuffer view, long base) {
    this.view = view;
    this.base = base;
  }
}
