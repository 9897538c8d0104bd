package io.heddle.roce.transport;

/**
 * Limit of outstanding large trains for each of a device's transmit rings. Together the rings may
 * have as many outstanding large trains as one ring holds. More trains would leave the caches
 * before the receiver copies them, and such a copy takes 1.5 times as long. The limit of a ring is
 * at least {@link #LEAST}, which covers two acknowledgements of a peer that sends one per 64
 * packets. Only rings with outstanding large trains share the limit, so a single such ring has all
 * of it. Used under the progress lock.
 */
public final class RingShares {
  /** Minimum limit of a ring, however many rings share. */
  public static final int LEAST = 16;

  private int rings;
  private int share = TransmitRing.SLOTS;

  public int share() {
    return share;
  }

  /** Registers a ring whose first large train becomes outstanding. */
  void addRing() {
    rings++;
    divide();
  }

  /** Removes a ring that has no outstanding large trains any more. */
  void removeRing() {
    rings--;
    divide();
  }

  private void divide() {
    share = Math.max(LEAST, TransmitRing.SLOTS / Math.max(1, rings));
  }
}
