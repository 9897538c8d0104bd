package io.heddle.roce.transport;

/**
 * Back-off for delayed sends. After a delay that no caller and no further packet ended, so that
 * only a timer did, the next 64 sends aren't delayed; the number doubles with each repetition.
 * Under the progress lock.
 */
public final class DelayBackoff {
  private static final int FEWEST = 64;
  private static final int MOST = 4096;

  private int left;
  private int next = FEWEST;

  public void reset() {
    left = 0;
    next = FEWEST;
  }

  /** Returns whether the next send skips the delay, and counts it. */
  public boolean skipsNext() {
    if (left == 0) {
      return false;
    }
    left--;
    return true;
  }

  public void waitFailed() {
    left = next;
    next = Math.min(MOST, 2 * next);
  }

  public void waitSucceeded() {
    next = FEWEST;
  }
}
