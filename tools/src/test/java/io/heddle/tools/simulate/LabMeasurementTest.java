package io.heddle.tools.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.heddle.cli.kit.Json;
import io.heddle.sim.check.CheckRow;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Test of {@link LabMeasurement} with a recorded report of heddle perf policies. */
class LabMeasurementTest {
  private final ArrayNode series = Json.mapper().createArrayNode();

  private void add(
      String situation, String policy, String quantity, String unit, Double... rounds) {
    ObjectNode each = series.addObject();
    each.put("name", situation + ", " + policy + quantity);
    each.put("step", situation).put("contestant", policy).put("unit", unit);
    Stream.of(rounds).forEach(each.withArray("rounds")::add);
  }

  private void addShares(String situation, String policy, Double first, Double other) {
    for (int plane = 1; plane <= 4; plane++) {
      add(situation, policy, ", share of plane " + plane, "", plane == 1 ? first : other);
    }
  }

  private List<CheckRow> compare(double goodputOfSpray) throws Exception {
    ObjectNode report =
        (ObjectNode)
            Json.mapper()
                .readTree(
                    """
                    {"settings": {"planes": "4", "rate_gbps": "0.12", "payload_share": "0.98932",
                      "message_bytes": "1048576", "outstanding": "8", "milliseconds": "2000"}}
                    """);
    add("equal", "pinned", "", "Gbit/s", 0.1, 0.47, 0.472);
    add("equal", "pinned", ", share of plane 1", "", 0.25, 0.26);
    add("equal", "pinned", ", share of plane 2", "", 0.25, 0.24);
    add("equal", "pinned", ", share of plane 3", "", 0.25, 0.25);
    add("equal", "pinned", ", share of plane 4", "", 0.25, 0.25);
    add("announced", "pinned", "", "Gbit/s", 0.39);
    addShares("announced", "pinned", 0.077, 0.3077);
    add("unannounced", "spray", "", "Gbit/s", goodputOfSpray);
    addShares("unannounced", "spray", 0.079, 0.307);
    add("unannounced", "pinned", "", "Gbit/s", 0.119);
    addShares("unannounced", "pinned", 0.25, 0.25);
    report.set("series", series);
    return LabMeasurement.compare(report, 1);
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
