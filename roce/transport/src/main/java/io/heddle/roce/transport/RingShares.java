package io.heddle.roce.transport;

/**
 * How many large trains each of a device's transmit rings may have under way. Together they are as
 * many as one ring holds, since the receiver's copy of a train takes half as long again where the
 * train has left the caches; but none has to do with fewer than cover two acknowledgements of a
 * peer that sends one for each 64 packets. Only rings that have some take part, so who is alone has
 * all, and who shares with one that waits for a dead plane has no less than {@link #LEAST}. Under
 * the progress lock.
 */
public final class RingShares {
  /** Of a ring, however many there are. */
  public static final int LEAST = 16;

  private int rings;
  private int each = TransmitRing.SLOTS;

  public int each() {
    return each;
  }

  /** A ring that had none has one under way. */
  void begins() {
    rings++;
    divide();
  }

  /** None of a ring's is under way any more. */
  void ends() {
    rings--;
    divide();
  }

  private void divide() {
    each = Math.max(LEAST, TransmitRing.SLOTS / Math.max(1, rings));
  }
}
