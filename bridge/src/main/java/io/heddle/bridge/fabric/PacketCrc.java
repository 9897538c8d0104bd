package io.heddle.bridge.fabric;

import io.heddle.roce.wire.DatagramFormat;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** Calculator of the CRC-32 of packets in one memory area. Used by the data thread only. */
public final class PacketCrc {
  private final CRC32 crc = new CRC32();
  private final long base;
  private final ByteBuffer area;

  /**
   * @param base address of the area's first byte
   */
  public PacketCrc(long base, ByteBuffer area) {
    this.base = base;
    this.area = area;
  }

  /** Returns the CRC of a packet's bytes from the BTH on, with congestion marks as zeros. */
  public int of(long packet, int covered) {
    int offset = (int) (packet - base);
    byte marks = area.get(offset + DatagramFormat.MARKS_OFFSET);
    if (marks != 0) {
      area.put(offset + DatagramFormat.MARKS_OFFSET, (byte) 0);
    }
    crc.reset();
    crc.update(area.limit(offset + covered).position(offset));
    area.clear();
    if (marks != 0) {
      area.put(offset + DatagramFormat.MARKS_OFFSET, marks);
    }
    return (int) crc.getValue();
  }
}
