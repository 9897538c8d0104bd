package io.heddle.transport.connection;

import java.util.ArrayDeque;

/**
 * Has no more than some calls of listeners under way at a time. Hundreds that begin together would
 * all wait for each other's steps, each by a clock of its own that says how long a silent peer is
 * waited for. Control thread only.
 */
final class CallsInTurn {
  private static final int MOST = 32;

  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int underWay;

  /** Begins a call, now or when another has {@linkplain #ended ended}. */
  void begin(Runnable call) {
    if (underWay == MOST) {
      waiting.add(call);
      return;
    }
    underWay++;
    run(call);
  }

  /** A call that was begun has come to its end, whichever. */
  void ended() {
    underWay--;
    Runnable next = waiting.poll();
    if (next != null) {
      underWay++;
      run(next);
    }
  }

  /** Those that wait will never begin. */
  void giveUp() {
    waiting.clear();
  }

  private void run(Runnable call) {
    boolean begun = false;
    try {
      call.run();
      begun = true;
    } finally {
      if (!begun) {
        ended();
      }
    }
  }
}
