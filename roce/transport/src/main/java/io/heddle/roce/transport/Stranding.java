package io.heddle.roce.transport;

/**
 * What to do after something has waited in vain, and somebody for it: for a caller who didn't come,
 * so that only a timer ended its wait, or for company that didn't. The next ones don't wait, 64 of
 * them, and twice as many each time that it happens again. Under the progress lock.
 */
public final class Stranding {
  private static final int FEWEST = 64;
  private static final int MOST = 4096;

  private int left;
  private int next = FEWEST;

  public void reset() {
    left = 0;
    next = FEWEST;
  }

  /** Whether the next one shall not wait; counts it. */
  public boolean skips() {
    if (left == 0) {
      return false;
    }
    left--;
    return true;
  }

  public void stranded() {
    left = next;
    next = Math.min(MOST, 2 * next);
  }

  public void wentWell() {
    next = FEWEST;
  }
}
