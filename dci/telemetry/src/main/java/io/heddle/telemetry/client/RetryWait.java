package io.heddle.telemetry.client;

import java.util.random.RandomGenerator;

/**
 * Back-off of connection attempts. The wait doubles up to only two seconds, so that a host that
 * returns after a long outage is found soon. Waits are random, so that many clients don't connect
 * at the same time. Used by one thread at a time.
 */
final class RetryWait {
  static final long LONGEST_MS = 2_000;
  private static final long FIRST_MS = 500;

  private final RandomGenerator random;
  private long mostMs = FIRST_MS;

  RetryWait(RandomGenerator random) {
    this.random = random;
  }

  /** Returns a random wait between half the current bound and the bound. */
  long nextMs() {
    long waitMs = mostMs / 2 + random.nextLong(mostMs / 2 + 1);
    mostMs = Math.min(2 * mostMs, LONGEST_MS);
    return waitMs;
  }

  /** Resets the wait to its minimum, because the server has answered. */
  void reset() {
    mostMs = FIRST_MS;
  }
}
