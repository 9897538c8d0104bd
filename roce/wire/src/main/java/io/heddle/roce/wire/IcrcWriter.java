package io.heddle.roce.wire;

import io.heddle.platform.Memory;
import io.heddle.platform.ShimCalls;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/** Writer of the invariant CRC of packets in one memory area. Callers hold the progress lock. */
public final class IcrcWriter {
  private static final boolean IN_C = ShimCalls.canBuildPackets();
  private static final int BLOCK_BYTES = 256;

  private final long base;
  private final ByteBuffer area;
  private FlowChecksum checksum;

  /**
   * @param checksum checksum of the packets' flow
   */
  public IcrcWriter(long base, int lengthBytes, FlowChecksum checksum) {
    this.base = base;
    this.checksum = checksum;
    area = Memory.ALL.asSlice(base, lengthBytes).asByteBuffer();
  }

  /** Sets the flow of the next packets: two addresses and the ports. */
  public void setFlow(FlowChecksum flow) {
    checksum = flow;
  }

  /**
   * Writes the invariant CRC of a finished packet.
   *
   * @param length bytes from the BTH to the end of the pad
   */
  public void write(long packet, int length) {
    byte mark = Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + PacketFormat.MARK_OFFSET);
    if (mark != 0) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + PacketFormat.MARK_OFFSET, (byte) 0);
    }
    int icrc = checksum.of(area, (int) (packet - base), length);
    if (mark != 0) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + PacketFormat.MARK_OFFSET, mark);
    }
    Memory.ALL.set(Memory.NATIVE_INT, packet + length, icrc);
  }

  /** Returns whether {@link #buildPackets} supports payloads of this length. */
  public static boolean canBuildPackets(int payloadBytes) {
    return IN_C && payloadBytes % BLOCK_BYTES == 0;
  }

  /**
   * Builds consecutive full-sized WRITE ONLY packets: copies their payloads and writes their CRCs.
   * The headers of the first packet are in place; those of the next packets are derived from them.
   */
  public void buildPackets(long packet, int count, long payload, int payloadBytes) {
    int covered = PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + payloadBytes;
    int front =
        PacketFormat.isData(packet)
            ? checksum.markedContribution(covered)
            : checksum.contribution(covered);
    ShimCalls.buildPackets(packet, count, payload, payloadBytes, front);
  }
}
