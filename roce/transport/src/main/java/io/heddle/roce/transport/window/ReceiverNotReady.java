package io.heddle.roce.transport.window;

import io.heddle.roce.transport.Pause;

/**
 * Requester's RNR handling: waits for the responder's RNR timer, up to the user's RNR retry count.
 * Used under the progress lock.
 */
public final class ReceiverNotReady {
  /** Retry count that means unlimited retries. */
  private static final int UNLIMITED = 7;

  private final Pause pause = new Pause();
  private int limit;
  private int count;

  public void start(int retries) {
    limit = retries;
    count = 0;
    pause.end();
  }

  public boolean isWaiting() {
    return pause.isRunning();
  }

  public long dueNs() {
    return pause.dueNs();
  }

  /** Counts an RNR NAK. Returns whether the retry count allows another wait. */
  public boolean canWait() {
    return limit == UNLIMITED || ++count <= limit;
  }

  public void waitUntil(long overNs) {
    pause.begin(overNs);
  }

  public boolean isOver(long nowNs) {
    return pause.endIfDue(nowNs);
  }

  /** Resets the count: something was acknowledged. */
  public void onProgress() {
    count = 0;
  }

  public void stop() {
    pause.end();
  }
}
