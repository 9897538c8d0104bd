package io.heddle.sim.check;

/**
 * Figure of the simulation with its expected value.
 *
 * @param scenario scenario that was simulated
 * @param policy policy that selected the planes
 * @param expected published or measured value
 * @param found value of this simulation
 * @param tolerance allowed difference between the two values
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
