package io.heddle.cli.paths;

/**
 * When enough flows have passed a router to believe that all its next ones are known: the rule of
 * the Multipath Detection Algorithm (Augustin, Friedman, Teixeira, "Multipath tracing with Paris
 * traceroute", 2007). It supposes that the router shares flows out evenly.
 */
final class StoppingRule {
  /** The confidence that a measurement goes on for. */
  static final double WANTED = 0.95;

  private StoppingRule() {}

  /**
   * How sure it is that there is no further one, 0 to 1: had there been one more, all flows would
   * have missed one of them with the remaining chance at most.
   *
   * @param found next routers that have answered
   * @param flows that passed
   */
  static double confidence(int found, int flows) {
    double one = found + 1.0;
    return Math.max(0, 1 - one * Math.pow(found / one, flows));
  }

  /** How many flows it takes for {@link #WANTED}: 6, 11, 16, 21, 27, … */
  static int flows(int found) {
    int flows = 1;
    while (confidence(found, flows) < WANTED) {
      flows++;
    }
    return flows;
  }
}
