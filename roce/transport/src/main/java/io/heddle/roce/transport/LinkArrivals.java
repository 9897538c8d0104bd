package io.heddle.roce.transport;

import io.heddle.roce.wire.PsnBits;

/**
 * What a responder took by each of several links: bytes, and how far ahead of the first missing
 * number. Under the progress lock.
 */
public final class LinkArrivals {
  private long[] receivedBytes = {};
  private long[][] ahead = {};

  /** Goes on for as many links as before, and begins anew for another number. */
  public void start(int links) {
    if (links > 1 && links != receivedBytes.length) {
      receivedBytes = new long[links];
      ahead = new long[links][PsnBits.BIT_LENGTHS];
    }
  }

  /** A packet was taken that lies so far ahead of the first missing one. */
  public void took(int link, int payloadBytes, int numbersAhead) {
    receivedBytes[link] += payloadBytes;
    ahead[link][Integer.SIZE - Integer.numberOfLeadingZeros(numbersAhead)]++;
  }

  public long receivedBytes(int link) {
    return receivedBytes[link];
  }

  /** How many of the packets taken were ahead by 0, 1, 2–3, 4–7 numbers and so on. */
  public long[] ahead(int link) {
    return ahead[link].clone();
  }
}
