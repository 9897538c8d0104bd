package io.heddle.bridge.fabric;

/**
 * Batch of the packets that one poll received, as segment trains. A train is a run of packets with
 * one source and one destination, of equal length except the last. Each property has an array,
 * indexed by train. Used by the data thread only.
 */
public final class TrainBatch {
  /** Memory address of the first packet's BTH. */
  public final long[] address;

  /** Total length of a train's packets. */
  public final int[] lengthBytes;

  /** Length of each packet but the last, from the BTH to the end of the CRC. */
  public final int[] strideBytes;

  public final long[] sourceHigh;
  public final long[] sourceLow;
  public final int[] sourcePort;
  public final long[] destinationHigh;
  public final long[] destinationLow;

  /**
   * Time when the system received a train, by {@link System#nanoTime}; for a device without time
   * stamps, the time when the train was polled.
   */
  public final long[] arrivedNs;

  /**
   * Lower bound of a train's arrival time, by {@link System#nanoTime}; equal to {@link #arrivedNs}
   * if the system measures arrival times.
   */
  public final long[] notBeforeNs;

  /**
   * Whether a router or a bridge has forwarded a train, according to the hop limit on InfiniBand.
   * False on Ethernet, where only the source address shows that.
   */
  public final boolean[] crossed;

  public TrainBatch(int most) {
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

  public int packets(int train) {
    return (lengthBytes[train] + strideBytes[train] - 1) / strideBytes[train];
  }

  public boolean isToIpv4(int train) {
    return destinationHigh[train] == 0 && destinationLow[train] >>> 32 == 0xffff;
  }

  /** Returns whether a train's destination is a multicast address. */
  public boolean isMulticast(int train) {
    return isToIpv4(train)
        ? (destinationLow[train] >>> 28 & 15) == 14
        : destinationHigh[train] >>> 56 == 0xff;
  }
}
