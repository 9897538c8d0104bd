package io.heddle.cli.stat;

import io.heddle.stats.Latencies;

/**
 * Rates of a flow between two readings.
 *
 * @param now the later reading
 * @param bytesPerSecond bytes sent or received per second
 * @param share share of the flow in the peer's bytes over all planes; 0 if there were none
 * @param latencies latencies of requests that completed between the readings; after the first
 *     reading, of all requests
 */
record FlowRate(
    Flow now,
    double bytesPerSecond,
    double share,
    double resentPerSecond,
    long failovers,
    Latencies latencies) {
  /**
   * Returns whether communicators are open and the plane has weight 0: it failed, is drained, or
   * routes exclude it.
   */
  boolean isUnused() {
    return now.communicators() > 0 && now.weight() == 0;
  }

  double gigabitsPerSecond() {
    return bytesPerSecond * 8 / 1e9;
  }
}
