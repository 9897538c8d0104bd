package io.heddle.sim.check;

/**
 * A simulated figure with its expected value.
 *
 * @param scenario that was simulated
 * @param policy that chose planes
 * @param expected the published or measured figure
 * @param found figure of this simulation
 * @param tolerance allowed difference
 * @param isWithin whether the difference is allowed
 */
public record CheckRow(
    String scenario,
    String policy,
    double expected,
    double found,
    double tolerance,
    boolean isWithin) {
  static CheckRow of(
      String scenario, String policy, double expected, double found, double tolerance) {
    return new CheckRow(
        scenario,
        policy,
        expected,
        found,
        tolerance,
        Math.abs(found - expected) <= tolerance + 1e-9);
  }
}
