package io.heddle.softdevice;

import java.nio.ByteBuffer;

/** What takes packets as they came; anything may be in them. Under the progress lock. */
interface PacketSink {
  /**
   * Takes what came as one: packets of {@code stride} bytes, the last of which may be shorter.
   *
   * @return how many packets
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

  /** A packet that is held is due then, or earlier. */
  void timerAt(long whenNs);
}
