package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;

/** Batch of one packet, as from a fabric. */
public final class OnePacket {
  private OnePacket() {}

  /**
   * @param packet from the BTH to the end of the CRC
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
