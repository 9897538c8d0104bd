package io.heddle.bridge.fabric;

/** Data side of a port: receives and sends packets in bursts. Used by the data thread. */
public interface PacketPort {
  /** Returns the descriptor that becomes readable when packets arrive. */
  int descriptor();

  /**
   * Prepares for a sleep until {@link #descriptor} is readable.
   *
   * @return false if packets are pending, so that the thread must not sleep
   */
  boolean maySleep();

  /**
   * Returns the maximum length of a packet, from the BTH to the end of the CRC. Thread-safe.
   *
   * @param ipv4 whether the destination has an IPv4 address
   */
  int mostBytes(boolean ipv4);

  /**
   * Returns whether packets keep their sequence numbers and source queue pairs through this port.
   * Otherwise a packet that comes back can be recognized only by its payload.
   */
  boolean keepsHeaders();

  /**
   * Receives without waiting. The batch is valid until the next call.
   *
   * @return number of received segment trains
   */
  int poll();

  /** Returns the packets of the last {@link #poll}. */
  TrainBatch batch();

  /**
   * Returns the CRC-32 of a packet of the batch, with congestion marks as zeros.
   *
   * @param covered bytes from the BTH to the end of the pad
   */
  int checksum(long packet, int covered);

  /**
   * Returns whether a packet of the batch is intact.
   *
   * @param covered bytes from the BTH to the end of the pad
   * @param crc CRC of these bytes, from {@link #checksum}
   */
  boolean isIntact(int train, long packet, int covered, int crc);

  /**
   * Queues a packet, which must stay in place until the next {@link #flush}. The invariant CRC in
   * it is recomputed.
   *
   * @param lengthBytes length of the packet from the BTH to the end of the CRC
   * @param crc CRC of the packet's bytes, from {@link #checksum}
   * @param counters address of the counters of the packet's group and direction
   * @param arrivedNs time when the system received the packet, by {@link System#nanoTime}
   */
  void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs);

  /** Passes the queued packets to the system, and counts the results. */
  void flush();

  /**
   * Drops the queued packets without counting them: their memory may contain other packets by now.
   */
  void discard();
}
