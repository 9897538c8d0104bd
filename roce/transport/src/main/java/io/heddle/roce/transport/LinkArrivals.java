package io.heddle.roce.transport;

import io.heddle.roce.wire.PsnBits;

/**
 * Receive counters of a responder for each of several links: bytes, and packets by their distance
 * from the first missing sequence number. Counts nothing where there is only one link. Used under
 * the progress lock.
 */
public final class LinkArrivals {
  private long[] receivedBytes = {};
  private long[][] ahead = {};
  private boolean isCounting;

  /**
   * Starts to count for this number of links. Earlier counts are kept if the number is unchanged.
   */
  public void start(int links) {
    isCounting = links > 1;
    if (isCounting && links != receivedBytes.length) {
      receivedBytes = new long[links];
      ahead = new long[links][PsnBits.BIT_LENGTHS];
    }
  }

  /**
   * Counts a packet, which is {@code numbersAhead} sequence numbers after the first missing one.
   */
  public void count(int link, int payloadBytes, int numbersAhead) {
    if (isCounting) {
      receivedBytes[link] += payloadBytes;
      ahead[link][Integer.SIZE - Integer.numberOfLeadingZeros(numbersAhead)]++;
    }
  }

  public long receivedBytes(int link) {
    return receivedBytes[link];
  }

  /**
   * Returns the number of packets for each distance from the first missing packet: 0, 1, 2–3, 4–7
   * sequence numbers and so on.
   */
  public long[] ahead(int link) {
    return ahead[link].clone();
  }
}
