package io.heddle.bridge.fabric;

/**
 * What one look at a fabric brought: trains, each a row of packets of equal length but the last,
 * with one source and one destination. Columns instead of objects. The data thread's.
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

  /** Of the first packet's BTH. */
  public long address(int train) {
    return address[train];
  }

  /** Of all its packets. */
  public int lengthBytes(int train) {
    return lengthBytes[train];
  }

  /** Of each packet but the last, from the BTH to the end of the CRC. */
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
   * When the system received it, by {@link System#nanoTime}; of a device that doesn't tell, when it
   * was polled.
   */
  public long arrivedNs(int train) {
    return arrivedNs[train];
  }

  /**
   * Whether a router or a bridge has sent it here, as its hop limit tells on InfiniBand. On
   * Ethernet its source tells that alone.
   */
  public boolean hasCrossed(int train) {
    return crossed[train];
  }

  /** The earliest time at which it may have come; the same where the system tells it. */
  public long notBeforeNs(int train) {
    return notBeforeNs[train];
  }
}
