package io.heddle.cli.stat;

import io.heddle.stats.Latencies;

/**
 * A flow between two looks.
 *
 * @param now the later look
 * @param bytesPerSecond sent or received
 * @param share of what its peer gets, or gives, over all planes; 0 where that is nothing
 * @param latencies of what completed between the looks; of all where there was one look only
 */
record FlowRate(
    Flow now,
    double bytesPerSecond,
    double share,
    double resentPerSecond,
    long failovers,
    Latencies latencies) {
  /** Whether its plane is away, or routes say that it doesn't carry: what an operator looks for. */
  boolean isAway() {
    return now.communicators() > 0 && now.weight() == 0;
  }

  double gigabitsPerSecond() {
    return bytesPerSecond * 8 / 1e9;
  }
}
