package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;

/** Factory of batches with one packet. */
public final class OnePacket {
  private OnePacket() {}

  /**
   * Puts a packet into a batch.
   *
   * @param packet address of the packet, which has all bytes from the BTH to the end of the CRC
   */
  public static void put(
      TrainBatch batch, long packet, int lengthBytes, Gid source, Gid destination) {
    batch.address[0] = packet;
    batch.lengthBytes[0] = lengthBytes;
    batch.strideBytes[0] = lengthBytes;
    batch.sourceHigh[0] = source.high();
    batch.sourceLow[0] = source.low();
    batch.destinationHigh[0] = destination.high();
    batch.destinationLow[0] = destination.low();
  }

  /** Returns a batch for {@link #put}. */
  public static TrainBatch batch() {
    return new TrainBatch(1);
  }
}
