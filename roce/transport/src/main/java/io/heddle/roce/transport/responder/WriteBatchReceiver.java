package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.platform.ShimCalls;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.PacketFormat;
import java.lang.foreign.Arena;

/**
 * Receiver that places a batch of packets with a single C call. A batch is a sequence of full WRITE
 * ONLY packets of one write, in order, from a soft peer: the common case. Any other packet ends the
 * batch and is left to {@link Responder#onRequest}, which processes packets one by one. There is
 * one receiver per device. Used under the progress lock.
 */
public final class WriteBatchReceiver {
  private static final boolean IN_C = ShimCalls.canTake();
  private static final int BLOCK_BYTES = 256;

  private final long row;
  private long outcome;

  public WriteBatchReceiver(Arena arena) {
    row = Memory.allocate(arena, ShimCalls.ROW_BYTES, 8);
  }

  /** Returns whether packets of this length may form a batch. */
  public static boolean isEligible(int stride) {
    int payload = stride - PacketFormat.WRITE_ONLY_BYTES;
    return IN_C && payload > 0 && payload % BLOCK_BYTES == 0;
  }

  /**
   * Places the payloads of packets, up to the first packet that isn't eligible or has a wrong
   * checksum.
   *
   * @param stride length of each packet; see {@link #isEligible}
   * @param expected sequence number of the first packet
   * @param key rkey that the packets must have, which permits writes to the region
   * @return number of packets taken, which {@link #tag} and {@link #isAcknowledgeRequested}
   *     describe
   */
  int placePackets(
      long packet,
      int stride,
      int count,
      FlowChecksum flow,
      int queuePair,
      long expected,
      int key,
      long region,
      long regionBytes) {
    boolean data = PacketFormat.isData(packet);
    int number = data ? PacketFormat.marked(queuePair) : queuePair;
    Memory.ALL.set(
        Memory.NATIVE_LONG, row, PacketFormat.firstWord(PacketFormat.WRITE_ONLY, 0, number));
    Memory.ALL.set(Memory.NATIVE_LONG, row + 8, expected);
    Memory.ALL.set(Memory.NATIVE_LONG, row + 16, key);
    Memory.ALL.set(Memory.NATIVE_LONG, row + 24, region);
    Memory.ALL.set(Memory.NATIVE_LONG, row + 32, regionBytes);
    int covered = stride - PacketFormat.ICRC_BYTES;
    int front = data ? flow.markedContribution(covered) : flow.contribution(covered);
    outcome = ShimCalls.take(packet, stride, count, front, row);
    return (int) outcome;
  }

  /** Returns the newest tag among the taken packets, or {@link PacketFormat#NO_TAG}. */
  int tag() {
    return (int) (outcome >>> 32) & 0x7f;
  }

  /** Returns whether the last taken packet requests an acknowledgement. */
  boolean isAcknowledgeRequested() {
    return (outcome >>> 40 & 1) != 0;
  }
}
