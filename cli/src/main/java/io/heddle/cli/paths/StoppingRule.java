package io.heddle.cli.paths;

/**
 * Stopping rule of the Multipath Detection Algorithm: the number of flows through a router after
 * which all its next hops are known with confidence (Augustin, Friedman, Teixeira, "Multipath
 * tracing with Paris traceroute", 2007). It assumes that the router distributes flows evenly.
 */
final class StoppingRule {
  /** Confidence at which a measurement stops. */
  static final double WANTED = 0.95;

  private StoppingRule() {}

  /**
   * Returns the confidence, 0 to 1, that the router has no further next router. If it had one more,
   * all flows would miss one of its next routers with a probability of at most 1 minus the
   * confidence.
   *
   * @param found number of next routers that have replied
   * @param flows number of flows through the router
   */
  static double confidence(int found, int flows) {
    double one = found + 1.0;
    return Math.max(0, 1 - one * Math.pow(found / one, flows));
  }

  /**
   * Returns the number of flows needed for {@link #WANTED}: 6 for one next router, then 11, 16, 21,
   * 27, …
   */
  static int flows(int found) {
    int flows = 1;
    while (confidence(found, flows) < WANTED) {
      flows++;
    }
    return flows;
  }
}
