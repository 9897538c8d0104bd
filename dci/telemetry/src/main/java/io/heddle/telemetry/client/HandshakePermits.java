package io.heddle.telemetry.client;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Permits for a limited number of concurrent TLS handshakes, granted in the order of requests. A
 * hundred handshakes at once on two cores would exceed their time limit. Any thread may call the
 * methods.
 */
final class HandshakePermits {
  private final int most;
  private final Deque<Permit> waiting = new ArrayDeque<>();
  private int taken;

  /**
   * @param most largest number of concurrent handshakes, at least 1
   */
  HandshakePermits(int most) {
    this.most = most;
  }

  /**
   * Acquires a permit, or queues for one.
   *
   * @param begin runs once, when the permit is granted: during this call, or later on the thread
   *     that releases another permit
   */
  Permit acquire(Runnable begin) {
    Permit permit = new Permit(begin);
    synchronized (this) {
      if (taken == most) {
        waiting.add(permit);
        return permit;
      }
      taken++;
      permit.begun = true;
    }
    begin.run();
    return permit;
  }

  private synchronized Deque<Permit> end(Permit permit) {
    Deque<Permit> begins = new ArrayDeque<>();
    if (!permit.ended) {
      permit.ended = true;
      if (permit.begun) {
        taken--;
      } else {
        waiting.remove(permit);
      }
    }
    while (taken < most && !waiting.isEmpty()) {
      Permit next = waiting.remove();
      next.begun = true;
      taken++;
      begins.add(next);
    }
    return begins;
  }

  /** Permit of one connection. */
  final class Permit {
    private final Runnable begin;
    private boolean begun;
    private boolean ended;

    private Permit(Runnable begin) {
      this.begin = begin;
    }

    /** Releases the permit, or leaves the queue. Further calls do nothing. */
    void release() {
      end(this).forEach(next -> next.begin.run());
    }
  }
}
