package io.heddle.tools.simulate;

import io.heddle.sim.check.CheckRow;
import java.util.List;
import java.util.Locale;

/**
 * Comparison of the simulation with reference figures.
 *
 * @param against source of the reference figures
 * @param rows one row per figure
 * @param passed whether all figures are within their tolerances
 */
record CheckReport(String against, List<CheckRow> rows, boolean passed) {
  static CheckReport of(String against, List<CheckRow> rows) {
    return new CheckReport(against, rows, rows.stream().allMatch(CheckRow::isWithin));
  }

  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        "%-38s %-16s %10s %10s %10s%n"
            .formatted("beside " + against, "policy", "expected", "found", "tolerance"));
    for (CheckRow each : rows) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-38s %-16s %10.2f %10.2f %10.2f  %s%n",
              each.scenario(),
              each.policy(),
              each.expected(),
              each.found(),
              each.tolerance(),
              each.isWithin() ? "within" : "NOT WITHIN"));
    }
    return text + (passed ? "PASSED" : "FAILED") + System.lineSeparator();
  }
}
