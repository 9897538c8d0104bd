package io.heddle.cli.stat;

import io.heddle.stats.Latencies;

/**
 * Rates of a flow between two readings.
 *
 * @param now the later reading
 * @param bytesPerSecond sent or received
 * @param share of its peer's bytes over all planes; 0 if there were none
 * @param latencies of requests completed between the readings; of all after one reading only
 */
record FlowRate(
    Flow now,
    double bytesPerSecond,
    double share,
    double resentPerSecond,
    long failovers,
    Latencies latencies) {
  /** Returns whether its plane failed or the routes exclude it; operators look for such flows. */
  boolean isUnused() {
    return now.communicators() > 0 && now.weight() == 0;
  }

  double gigabitsPerSecond() {
    return bytesPerSecond * 8 / 1e9;
  }
}
