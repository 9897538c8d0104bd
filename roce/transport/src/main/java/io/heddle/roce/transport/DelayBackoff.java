package io.heddle.roce.transport;

/**
 * Back-off for sends that are delayed so that they can leave together with other packets. A delay
 * succeeds if a caller or a further packet ends it, and fails if a timer does. After a failed delay
 * the next 64 sends aren't delayed. This number doubles with each consecutive failure, up to 4096.
 * Used under the progress lock.
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

  /** Returns whether the next send skips the delay. If so, counts that send. */
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
