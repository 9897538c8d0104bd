package io.heddle.sim.check;

/**
 * One figure beside what it should be.
 *
 * @param scenario what was simulated
 * @param policy that chose planes
 * @param expected the figure that others have found
 * @param found ours
 * @param tolerance how far ours may be off
 * @param isWithin whether it isn't further off than that
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
