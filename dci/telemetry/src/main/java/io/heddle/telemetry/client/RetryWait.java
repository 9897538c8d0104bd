package io.heddle.telemetry.client;

import java.util.random.RandomGenerator;

/**
 * How long to wait before the next try. It doubles to two seconds, so who was away for long is
 * heard soon; and it is drawn, so that many clients don't try together. One thread at a time.
 */
final class RetryWait {
  static final long LONGEST_MS = 2_000;
  private static final long FIRST_MS = 500;

  private final RandomGenerator random;
  private long mostMs = FIRST_MS;

  RetryWait(RandomGenerator random) {
    this.random = random;
  }

  /** From half of the present bound to the bound. */
  long nextMs() {
    long waitMs = mostMs / 2 + random.nextLong(mostMs / 2 + 1);
    mostMs = Math.min(2 * mostMs, LONGEST_MS);
    return waitMs;
  }

  /** The other end is there: the first wait is short again. */
  void heard() {
    mostMs = FIRST_MS;
  }
}
