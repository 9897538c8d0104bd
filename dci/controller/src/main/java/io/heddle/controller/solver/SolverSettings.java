package io.heddle.controller.solver;

/**
 * Thresholds and times of the solver. Utilisations and differences of them are shares of a link's
 * capacity, 0 to 1.
 *
 * @param high utilisation of a policy's busiest list from which that list is relieved
 * @param gap minimum difference of utilisation between the busiest and the least busy list for an
 *     imbalance
 * @param low utilisation of the busiest list up to which a rule is needless
 * @param leastGain minimum difference by which a move must lower the utilisation of the busiest
 *     list
 * @param slack maximum difference by which that utilisation may rise when a rule is withdrawn
 * @param samples number of consecutive samples that must show an imbalance
 * @param settleSamples number of samples to wait after a move before the next decision
 * @param mostMoves maximum number of moves of a policy in one round
 * @param holdDownNs time for which a flow stays on its list after it was moved or its rule was
 *     withdrawn
 * @param releaseNs time for which a rule must be needless before it is withdrawn
 * @param intervalNs interval of samples
 * @param staleIntervals age in intervals above which a sample is too old
 * @param latencyLimitMs no flow is moved to a list of higher latency; infinite for no limit
 * @param lossLimit no flow is moved to a list of higher loss; 1 for no limit
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

  /** Returns these settings without waiting times, for a decision on a single sample. */
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
   * Checks the thresholds.
   *
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
