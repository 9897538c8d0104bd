package io.heddle.roce.transport.responder;

import io.heddle.roce.transport.DelayBackoff;

/**
 * How long an acknowledgement that a soft peer asked for waits for a packet that can carry it,
 * counted in rounds of progress. A packet alone costs as much as a packet in company, and whoever
 * answers a small message by another sends one soon. Learned for each queue pair: what was carried
 * may wait longer next time, what waited in vain not so long; and where nobody made a round any
 * more, so that only the timer ended the wait, the next ones go out at once. Now and then a longer
 * wait is tried again. Under the progress lock.
 */
final class AcknowledgeDelay {
  private static final int MOST_ROUNDS = 16;
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

  /** For the next acknowledgement; 0 means at once. */
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

  void carried() {
    rounds = Math.min(MOST_ROUNDS, 2 * rounds);
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
