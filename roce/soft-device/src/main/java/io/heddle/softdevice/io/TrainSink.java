package io.heddle.softdevice.io;

import java.nio.ByteBuffer;

/** Receiver of unchecked packets. Called under the progress lock. */
@FunctionalInterface
public interface TrainSink {
  /**
   * Takes a merged datagram: packets of {@code stride} bytes, the last of which may be shorter.
   *
   * @return number of packets
   */
  int onTrain(
      ByteBuffer view,
      long base,
      long address,
      int length,
      int stride,
      long high,
      long low,
      int port,
      long nowNs);
}
