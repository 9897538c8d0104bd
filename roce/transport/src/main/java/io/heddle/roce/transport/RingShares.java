package io.heddle.roce.transport;

/**
 * Limit of outstanding large trains for each of a device's transmit rings. Together the rings may
 * have as many as one ring holds, since the receiver takes half as long again to copy a train that
 * has left the caches. Each ring keeps at least {@link #LEAST}, which covers two acknowledgements
 * of a peer that sends one per 64 packets. Only rings with outstanding large trains share the
 * limit, so a single such ring has all of it. Under the progress lock.
 */
public final class RingShares {
  /** Minimum for a ring, with any number of rings. */
  public static final int LEAST = 16;

  private int rings;
  private int share = TransmitRing.SLOTS;

  public int share() {
    return share;
  }

  /** Registers a ring with its first outstanding large train. */
  void addRing() {
    rings++;
    divide();
  }

  /** Removes a ring without outstanding large trains. */
  void removeRing() {
    rings--;
    divide();
  }

  private void divide() {
    share = Math.max(LEAST, TransmitRing.SLOTS / Math.max(1, rings));
  }
}
