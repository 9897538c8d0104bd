package io.heddle.bridge.fabric;

import io.heddle.roce.wire.DatagramFormat;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/** The CRC-32 of packets that lie in one area. The data thread's. */
final class PacketCrc {
  private final CRC32 crc = new CRC32();
  private final long base;
  private final ByteBuffer area;

  /**
   * @param base address of the area's first byte
   */
  PacketCrc(long base, ByteBuffer area) {
    this.base = base;
    this.area = area;
  }

  /** Of a packet's own bytes, with congestion marks as zeros. */
  int of(long packet, int covered) {
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
