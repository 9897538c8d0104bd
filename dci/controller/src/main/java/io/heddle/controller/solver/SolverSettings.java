package io.heddle.controller.solver;

/**
 * Thresholds and waits of the solver. Shares of a link's capacity are 0 to 1.
 *
 * @param high utilisation of a policy's busiest list from which it is relieved
 * @param gap minimum difference between the busiest and the least busy list
 * @param low utilisation up to which a rule isn't needed
 * @param leastGain by how much a move has to lower the maximum
 * @param slack by how much the maximum may rise when a rule is withdrawn
 * @param samples number of consecutive samples that have to show an imbalance
 * @param settleSamples samples to wait after a move before the next decision
 * @param mostMoves moves of a policy in one round
 * @param holdDownNs how long a flow stays after it was moved or released
 * @param releaseNs how long a rule has to be needless before it is withdrawn
 * @param intervalNs between two samples
 * @param staleIntervals age in intervals from which a sample is too old
 * @param latencyLimitMs lists above it are no targets; infinite for no limit
 * @param lossLimit lists above it are no targets; 1 for no limit
 */
public record SolverSettings(
    double high,
    double gap,
    double low,
    double leastGain,
    double slack,
    int samples,
    int settleSamples,
    int mostMoves,
    long holdDownNs,
    long releaseNs,
    long intervalNs,
    int staleIntervals,
    double latencyLimitMs,
    double lossLimit) {
  private static final long SECOND_NS = 1_000_000_000;

  public static final SolverSettings DEFAULT =
      new SolverSettings(
          0.60,
          0.20,
          0.50,
          0.05,
          0.02,
          2,
          2,
          4,
          10 * SECOND_NS,
          10 * SECOND_NS,
          SECOND_NS,
          3,
          Double.POSITIVE_INFINITY,
          1);

  /** Returns these settings without waits, for a decision on a single sample. */
  public SolverSettings atOnce() {
    return new SolverSettings(
        high,
        gap,
        low,
        leastGain,
        slack,
        1,
        0,
        mostMoves,
        holdDownNs,
        0,
        intervalNs,
        staleIntervals,
        latencyLimitMs,
        lossLimit);
  }

  /**
   * @throws IllegalArgumentException if rules would oscillate
   */
  public SolverSettings {
    if (!(low < high)) {
      throw new IllegalArgumentException(
          "low = %s isn't below high = %s: rules would come and go".formatted(low, high));
    }
    if (!(slack < leastGain)) {
      throw new IllegalArgumentException(
          "slack = %s isn't below least-gain = %s: rules would come and go"
              .formatted(slack, leastGain));
    }
  }
}
