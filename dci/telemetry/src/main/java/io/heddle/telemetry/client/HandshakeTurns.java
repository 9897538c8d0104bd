package io.heddle.telemetry.client;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Turns to shake hands: a few at a time, in the order in which they were asked for. A hundred TLS
 * handshakes at once on two cores last longer than each of them may. Any thread.
 */
final class HandshakeTurns {
  private final int most;
  private final Deque<Turn> waiting = new ArrayDeque<>();
  private int taken;

  /**
   * @param most how many may have their turn at once, 1 at least
   */
  HandshakeTurns(int most) {
    this.most = most;
  }

  /**
   * Takes a turn, or a place in the queue.
   *
   * @param begin runs once, when the turn has come: here, or on the thread that gives one back
   */
  Turn take(Runnable begin) {
    Turn turn = new Turn(begin);
    synchronized (this) {
      if (taken == most) {
        waiting.add(turn);
        return turn;
      }
      taken++;
      turn.begun = true;
    }
    begin.run();
    return turn;
  }

  private synchronized Deque<Turn> end(Turn turn) {
    Deque<Turn> begins = new ArrayDeque<>();
    if (!turn.ended) {
      turn.ended = true;
      if (turn.begun) {
        taken--;
      } else {
        waiting.remove(turn);
      }
    }
    while (taken < most && !waiting.isEmpty()) {
      Turn next = waiting.remove();
      next.begun = true;
      taken++;
      begins.add(next);
    }
    return begins;
  }

  /** One connection's turn. */
  final class Turn {
    private final Runnable begin;
    private boolean begun;
    private boolean ended;

    private Turn(Runnable begin) {
      this.begin = begin;
    }

    /** Gives it back, or leaves the queue. Further calls do nothing. */
    void release() {
      end(this).forEach(next -> next.begin.run());
    }
  }
}
