package io.heddle.tools.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import io.heddle.sim.check.CheckRow;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Test of {@link LabMeasurement} with a recorded report of heddle perf policies. */
class LabMeasurementTest {
  private static List<CheckRow> compare(double goodputOfSpray) throws Exception {
    return LabMeasurement.compare(
        Json.mapper()
            .readTree(
                """
                {"plane_count": 4, "rate_gbps": 0.12, "payload_share": 0.98932,
                 "message_bytes": 1048576, "outstanding": 8, "milliseconds": 2000,
                 "situations": [
                   {"name": "equal", "policies": [
                     {"policy": "pinned", "goodput_gbps": [0.1, 0.47, 0.472],
                      "plane_shares": [[0.25, 0.25, 0.25, 0.25], [0.26, 0.24, 0.25, 0.25]]}]},
                   {"name": "announced", "policies": [
                     {"policy": "pinned", "goodput_gbps": [0.39],
                      "plane_shares": [[0.077, 0.308, 0.308, 0.307]]}]},
                   {"name": "unannounced", "policies": [
                     {"policy": "spray", "goodput_gbps": [%.3f],
                      "plane_shares": [[0.079, 0.307, 0.307, 0.307]]},
                     {"policy": "pinned", "goodput_gbps": [0.119],
                      "plane_shares": [[0.25, 0.25, 0.25, 0.25]]}]}]}
                """
                    .replace("%.3f", String.format(Locale.ROOT, "%.3f", goodputOfSpray))),
        1);
  }

  @Test
  void simulatedPoliciesMatchTheLab() throws Exception {
    List<CheckRow> rows = compare(0.38);
    assertEquals(4 * 5, rows.size());
    rows.forEach(row -> assertTrue(row.isWithin(), row.toString()));
    assertEquals(25.5, rows.get(1).expected(), 1e-9, "the mean share of all rounds");
    assertEquals(0.47, rows.get(0).expected(), "the round in the middle");
  }

  @Test
  void slowerLabIsDetected() throws Exception {
    List<CheckRow> rows = compare(0.33);
    List<CheckRow> off = rows.stream().filter(row -> !row.isWithin()).toList();
    assertEquals(1, off.size(), off.toString());
    assertEquals("lab, unannounced, Gbit/s", off.getFirst().scenario());
    assertFalse(CheckReport.of("lab", rows).passed());
  }
}
