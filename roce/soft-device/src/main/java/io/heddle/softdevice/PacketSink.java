package io.heddle.softdevice;

import java.nio.ByteBuffer;

/** Receiver of unchecked packets. Called under the progress lock. */
interface PacketSink {
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

  /** Takes one packet. */
  void onPacket(
      ByteBuffer view,
      long base,
      long packet,
      int bytes,
      long high,
      long low,
      int port,
      long nowNs);

  /** Requests a call of {@link PacketGate#release} no later than this time, for a held packet. */
  void timerAt(long whenNs);
}
