package io.heddle.bgp.session;

import java.util.random.RandomGenerator;

/** Waits between attempts: each twice the last, up to a limit, less up to a quarter by chance. */
final class Backoff {
  private static final int MOST_DOUBLINGS = 20;

  private final long firstNs;
  private final long mostNs;
  private final RandomGenerator random;
  private int failures;

  Backoff(long firstNs, long mostNs, RandomGenerator random) {
    this.firstNs = firstNs;
    this.mostNs = mostNs;
    this.random = random;
  }

  long nextNs() {
    long whole = Math.min(mostNs, firstNs << Math.min(failures, MOST_DOUBLINGS));
    failures++;
    return whole - (long) (random.nextDouble() * whole / 4);
  }

  void reset() {
    failures = 0;
  }
}
