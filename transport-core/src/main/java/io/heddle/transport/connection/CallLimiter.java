package io.heddle.transport.connection;

import java.util.ArrayDeque;

/**
 * Limiter of concurrent connects to listeners. Hundreds of connects that run at once would delay
 * each other, perhaps beyond the timeout after which a peer counts as silent. Control thread only.
 */
final class CallLimiter {
  private static final int MOST = 32;

  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int underWay;
  private boolean isBeginning;

  /** Begins a connect, now or when another has {@linkplain #onEnded ended}. */
  void begin(Runnable call) {
    waiting.add(call);
    beginNext();
  }

  /** Handles the end of a connect, with any outcome, and begins the next one. */
  void onEnded() {
    underWay--;
    beginNext();
  }

  /** Drops the waiting connects. */
  void cancelWaiting() {
    waiting.clear();
  }

  /*
   * Begins waiting connects up to the limit, in a loop instead of recursion: thousands of connects
   * may have been abandoned while they waited, and each of them ends as soon as it begins.
   */
  private void beginNext() {
    if (isBeginning) {
      return;
    }
    isBeginning = true;
    boolean whole = false;
    try {
      while (underWay < MOST && !waiting.isEmpty()) {
        underWay++;
        waiting.remove().run();
      }
      whole = true;
    } finally {
      isBeginning = false;
      if (!whole) {
        onEnded();
      }
    }
  }
}
