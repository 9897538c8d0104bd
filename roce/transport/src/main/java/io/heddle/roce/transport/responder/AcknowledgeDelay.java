package io.heddle.roce.transport.responder;

import io.heddle.roce.transport.DelayBackoff;

/**
 * Delay of an acknowledgement requested by a soft peer, in polling rounds, so that another packet
 * can carry it. A separate acknowledgement costs as much as a packet with a small message, and a
 * receiver often answers a message soon. The delay is learned per queue pair: it grows when a
 * packet carried the acknowledgement, and shrinks when none came. If no caller polled, so that only
 * the timer ended the wait, the next acknowledgements are sent at once. A longer delay is tried
 * periodically. Used under the progress lock.
 */
final class AcknowledgeDelay {
  private static final int MAX_ROUNDS = 16;
  private static final int TRIAL_ROUNDS = 4;
  private static final int BETWEEN_TRIALS = 64;

  private final DelayBackoff backoff = new DelayBackoff();
  private int rounds;
  private int sinceTrial;

  AcknowledgeDelay() {
    reset();
  }

  void reset() {
    rounds = TRIAL_ROUNDS;
    sinceTrial = 0;
    backoff.reset();
  }

  /** Returns the delay of the next acknowledgement in rounds; 0 if it isn't delayed. */
  int rounds() {
    if (backoff.skipsNext()) {
      return 0;
    }
    if (++sinceTrial == BETWEEN_TRIALS) {
      sinceTrial = 0;
      rounds = Math.max(rounds, TRIAL_ROUNDS);
    }
    return rounds;
  }

  void onCarried() {
    rounds = Math.min(MAX_ROUNDS, 2 * rounds);
    backoff.waitSucceeded();
  }

  void waitExpired() {
    rounds = Math.max(1, rounds / 2);
  }

  void waitFailed() {
    rounds = 1;
    backoff.waitFailed();
  }
}
