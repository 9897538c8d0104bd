package io.heddle.bgp.session;

import java.util.random.RandomGenerator;

/**
 * Exponential back-off between attempts: it doubles after each failure up to a limit, and is then
 * shortened at random by up to a quarter.
 */
final class Backoff {
  private static final int MAX_DOUBLINGS = 20;

  private final long firstNs;
  private final long maxNs;
  private final RandomGenerator random;
  private int failures;

  Backoff(long firstNs, long maxNs, RandomGenerator random) {
    this.firstNs = firstNs;
    this.maxNs = maxNs;
    this.random = random;
  }

  long nextNs() {
    long whole = Math.min(maxNs, firstNs << Math.min(failures, MAX_DOUBLINGS));
    failures++;
    return whole - (long) (random.nextDouble() * whole / 4);
  }

  void reset() {
    failures = 0;
  }
}
