package io.heddle.transport.connection;

import java.util.ArrayDeque;

/**
 * Has no more than some calls of listeners under way at a time. Hundreds that begin together would
 * all wait for each other's steps, each by a clock of its own that says how long a silent peer is
 * waited for. Control thread only.
 */
final class CallLimiter {
  private static final int MOST = 32;

  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int underWay;
  private boolean beginning;

  /** Begins a call, now or when another has {@linkplain #ended ended}. */
  void begin(Runnable call) {
    waiting.add(call);
    beginNext();
  }

  /** A call that was begun has come to its end, whichever. */
  void ended() {
    underWay--;
    beginNext();
  }

  /** Those that wait will never begin. */
  void giveUp() {
    waiting.clear();
  }

  /* A loop, since thousands that were given up while they waited end as soon as they begin. */
  private void beginNext() {
    if (beginning) {
      return;
    }
    beginning = true;
    boolean whole = false;
    try {
      while (underWay < MOST && !waiting.isEmpty()) {
        underWay++;
        waiting.remove().run();
      }
      whole = true;
    } finally {
      beginning = false;
      if (!whole) {
        ended();
      }
    }
  }
}
