package io.heddle.cli.paths;

/**
 * Stopping rule of the Multipath Detection Algorithm: number of flows through a router after which
 * all its next hops are known (Augustin, Friedman, Teixeira, "Multipath tracing with Paris
 * traceroute", 2007). It assumes that the router distributes flows evenly.
 */
final class StoppingRule {
  /** Confidence at which a measurement stops. */
  static final double WANTED = 0.95;

  private StoppingRule() {}

  /**
   * Returns the confidence that there is no further next router, 0 to 1: if there were one more,
   * the probability that all flows miss one of them is at most the remainder.
   *
   * @param found number of next routers that have replied
   * @param flows number of flows that passed
   */
  static double confidence(int found, int flows) {
    double one = found + 1.0;
    return Math.max(0, 1 - one * Math.pow(found / one, flows));
  }

  /** Returns the number of flows needed for {@link #WANTED}: 6, 11, 16, 21, 27, … */
  static int flows(int found) {
    int flows = 1;
    while (confidence(found, flows) < WANTED) {
      flows++;
    }
    return flows;
  }
}
