package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Test of the conversion of processes' events to the figures of reports. */
class ReportFiguresTest {
  private static JsonNode event(String json) throws Exception {
    return Json.mapper().readTree(json);
  }

  private static Map<String, JsonNode> events() throws Exception {
    Map<String, JsonNode> events = new HashMap<>();
    events.put("begun", event("{\"threads\": 2, \"resident_kib\": 976}"));
    events.put("first", event("{\"connections\": 1, \"descriptors\": 20, \"resident_kib\": 1000}"));
    events.put(
        "up",
        event(
            "{\"connections\": 4, \"descriptors\": 60, \"resident_kib\": 1400, \"seconds\": 1.5}"));
    events.put("moved", event("{\"seconds\": 0.25}"));
    events.put(
        "idle",
        event(
            "{\"threads\": 14, \"resident_kib\": 2000, \"seconds\": 2, \"processor_seconds\":"
                + " 0.01}"));
    return events;
  }

  @Test
  void costOfAConnectionIsGrowthBeyondTheFirstPerDirection() throws Exception {
    List<Double> idlePercent = List.of(0.5);
    assertEquals(
        new ScaleReport.Cost(
            List.of(1.5),
            List.of(5_000.0),
            idlePercent,
            List.of(1.0),
            List.of(50.0),
            List.of(5.0),
            List.of(12.0)),
        ScaleReport.Cost.of(List.of(events()), 10));
  }

  @Test
  void missingEventOfARankFails() throws Exception {
    Map<String, JsonNode> events = events();
    events.remove("moved");
    HeddleException missing =
        assertThrows(HeddleException.class, () -> ScaleReport.Cost.of(List.of(events), 10));
    assertEquals("a rank did not report \"moved\"", missing.getMessage());
  }

  private static PolicyReport policies(List<Double> ofIdeal) {
    return new PolicyReport(
        4,
        1,
        9000,
        1 << 20,
        8,
        100,
        ofIdeal.size(),
        0.98,
        List.of(0.5, 1.5),
        List.of(
            new PolicyReport.Situation(
                "bursts",
                "planes lose most of their rate at times",
                List.of(new PolicyReport.Cell("spray", ofIdeal, ofIdeal, ofIdeal, List.of())))));
  }

  @Test
  void roundWithoutFigureIsLeftOutOfThePolicysFigure() {
    String row = policies(List.of(0.75, Double.NaN, 0.25)).table().lines().toList().getLast();
    assertTrue(row.matches("  spray +0\\.500 +0\\.500 +\\(0\\.250 to 0\\.750\\) +0\\.5 .*"), row);
    String none = policies(List.of(Double.NaN)).table().lines().toList().getLast();
    assertTrue(none.matches("  spray +NaN +NaN +\\(NaN to NaN\\) +NaN .*"), none);
  }

  @Test
  void startReportHasMedianMinimumAndMaximum() {
    String row =
        new StartReport(
                "loopback addresses",
                2,
                4,
                List.of(0.1, 0.2),
                List.of(
                    new StartReport.Contestant(
                        "1 plane",
                        List.of(120.0, 100.0, 400.0, 110.0),
                        List.of(200.0),
                        List.of(60.0))))
            .table()
            .lines()
            .toList()
            .getLast();
    assertTrue(row.contains("115 (100 to 400)"), row);
    assertTrue(row.contains("60 (60 to 60)"), row);
  }

  @Test
  void needlessRetransmissionsAndMarksArePercent() {
    List<String> lines =
        new SwitchingReport(
                4,
                0.2,
                9_000,
                1 << 20,
                8,
                2_000,
                3,
                0.02,
                "no guest here",
                0.989,
                "bpf",
                false,
                List.of(0.1, 0.2),
                List.of(
                    new SwitchingReport.Situation(
                        "quarter",
                        "link 1 carries a quarter",
                        List.of(
                            new SwitchingReport.Cell(
                                "pinned",
                                "spraylink",
                                List.of(0.6, 0.64, 0.62),
                                List.of(0.95, 0.99, 0.97),
                                List.of(3.0, 2.0, 4.0),
                                List.of(120.0, 100.0, 110.0),
                                List.of(0.0005, 0.0, 0.0001),
                                List.of(0.8, 0.8, 0.8))))))
            .table()
            .lines()
            .toList();
    assertTrue(lines.get(1).contains("switched by bpf, trains"), lines.get(1));
    assertTrue(lines.contains("# without rxe: no guest here"), lines.toString());
    String row = lines.getLast();
    assertTrue(row.contains("0.970 (0.950 to 0.990)"), row);
    assertTrue(row.contains("3.000") && row.contains("0.010 %") && row.contains("80.0 %"), row);
  }
}
