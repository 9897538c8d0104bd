package io.heddle.bridge.fabric;

/**
 * Batch of the packets that one poll received, as segment trains. A train is a run of packets with
 * one source and one destination, of equal length except the last. Each property has an array,
 * indexed by train. Used by the data thread only.
 */
public final class TrainBatch {
  final long[] address;
  final int[] lengthBytes;
  final int[] strideBytes;
  final long[] sourceHigh;
  final long[] sourceLow;
  final int[] sourcePort;
  final long[] destinationHigh;
  final long[] destinationLow;
  final long[] arrivedNs;
  final long[] notBeforeNs;
  final boolean[] crossed;

  TrainBatch(int most) {
    address = new long[most];
    lengthBytes = new int[most];
    strideBytes = new int[most];
    sourceHigh = new long[most];
    sourceLow = new long[most];
    sourcePort = new int[most];
    destinationHigh = new long[most];
    destinationLow = new long[most];
    arrivedNs = new long[most];
    notBeforeNs = new long[most];
    crossed = new boolean[most];
  }

  /** Returns the memory address of the first packet's BTH. */
  public long address(int train) {
    return address[train];
  }

  /** Returns the total length of a train's packets. */
  public int lengthBytes(int train) {
    return lengthBytes[train];
  }

  /** Returns the length of each packet but the last, from the BTH to the end of the CRC. */
  public int strideBytes(int train) {
    return strideBytes[train];
  }

  public int packets(int train) {
    return (lengthBytes[train] + strideBytes[train] - 1) / strideBytes[train];
  }

  public long sourceHigh(int train) {
    return sourceHigh[train];
  }

  public long sourceLow(int train) {
    return sourceLow[train];
  }

  public long destinationHigh(int train) {
    return destinationHigh[train];
  }

  public long destinationLow(int train) {
    return destinationLow[train];
  }

  /**
   * Returns the time when the system received a train, by {@link System#nanoTime}; for a device
   * without time stamps, the time when the train was polled.
   */
  public long arrivedNs(int train) {
    return arrivedNs[train];
  }

  /**
   * Returns whether a router or a bridge has forwarded a train, according to the hop limit on
   * InfiniBand. False on Ethernet, where only the source address shows that.
   */
  public boolean hasCrossed(int train) {
    return crossed[train];
  }

  /**
   * Returns the lower bound of a train's arrival time, by {@link System#nanoTime}; equal to {@link
   * #arrivedNs(int)} if the system measures arrival times.
   */
  public long notBeforeNs(int train) {
    return notBeforeNs[train];
  }
}
