package io.heddle.softroce;

import io.heddle.platform.Memory;
import java.nio.ByteBuffer;

/** Puts the invariant CRC behind packets that lie in one memory area. Under the progress lock. */
final class PacketSeal {
  private final long base;
  private final ByteBuffer area;
  private final FlowChecksum checksum;

  PacketSeal(long base, int lengthBytes, FlowChecksum checksum) {
    this.base = base;
    this.checksum = checksum;
    area = Memory.ALL.asSlice(base, lengthBytes).asByteBuffer();
  }

  /**
   * Seals a packet whose BTH byte 4 is zero, as it goes on the wire.
   *
   * @param length bytes from the BTH to the end of the pad
   */
  void seal(long packet, int length) {
    int icrc = checksum.of(area, (int) (packet - base), length);
    Memory.ALL.set(Memory.NATIVE_INT, packet + length, icrc);
  }
}
