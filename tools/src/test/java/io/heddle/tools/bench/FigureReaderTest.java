package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Figure;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of {@link FigureReader} on shortened JSON documents. */
class FigureReaderTest {
  private static JsonNode json(String text) throws Exception {
    return Json.mapper().readTree(text);
  }

  private static Figure named(List<Figure> figures, String name) {
    Figure found =
        figures.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
    assertNotNull(found, () -> name + " isn't in " + figures);
    return found;
  }

  private static void assertAbsent(List<Figure> figures, String name) {
    assertTrue(figures.stream().noneMatch(each -> each.name().equals(name)), () -> "" + figures);
  }

  @Test
  void firstWindowAfterWeightChangeIsIgnored() throws Exception {
    List<Figure> figures =
        FigureReader.FABRIC.read(
            json(
                """
                {"hash_over_spray": 1.7, "jobs": [{"policy": "spray", "deviation_points": 1.5}],
                 "change": {"followed_after_ms": 40, "windows": [
                   {"from_seconds": 0, "deviation_points": 30},
                   {"from_seconds": 1, "deviation_points": 2},
                   {"from_seconds": 2, "deviation_points": 1}]}}
                """));
    assertEquals(1.7, named(figures, "time under hash ÷ under spray").median());
    assertEquals(1.5, named(figures, "shares under spray off by").median());
    assertEquals(2, named(figures, "shares of a second under spray off by").median());
    assertEquals(40, named(figures, "new weights followed after").median());
  }

  @Test
  void weightsThatTookNoEffectHaveNoTime() throws Exception {
    List<Figure> figures =
        FigureReader.FABRIC.read(
            json("{\"change\": {\"followed_after_ms\": null, \"windows\": []}}"));
    assertAbsent(figures, "new weights followed after");
  }

  @Test
  void benchmarkNameIsClassMethodAndParameters() throws Exception {
    List<Figure> figures =
        FigureReader.JMH.read(
            json(
                """
                [{"benchmark": "io.heddle.perf.ReorderBenchmark.reorderWindow",
                  "params": {"order": "planes"},
                  "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[10, 12], [14]]},
                  "secondaryMetrics": {"gc.alloc.rate.norm": {"score": 0.001}}},
                 {"benchmark": "io.heddle.perf.RouteLookupBenchmark.routesFile",
                  "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[100]]}}]
                """));
    assertEquals(
        new Figure("ReorderBenchmark.reorderWindow planes", "ns", 12, 10, 14),
        named(figures, "ReorderBenchmark.reorderWindow planes"));
    assertEquals(
        0.001, named(figures, "ReorderBenchmark.reorderWindow planes, allocated").median());
    assertEquals(100, named(figures, "RouteLookupBenchmark.routesFile").median());
  }

  @Test
  void medianOfEvenCountIsBetweenTheMiddleValues() {
    assertEquals(new Figure("x", "", 2.5, 1, 4), Figure.of("x", "", List.of(4.0, 1.0, 3.0, 2.0)));
    assertEquals(new Figure("x", "", 3, 1, 9), Figure.of("x", "", List.of(9.0, 1.0, 3.0)));
    assertTrue(Double.isNaN(Figure.of("x", "", List.of()).median()));
    assertNull(Outcomes.of("m").figure("x"));
  }

  @Test
  void pathsFiguresAreOfTheWorstHash() throws Exception {
    List<Figure> figures =
        FigureReader.PATHS.read(
            json(
                """
                {"rows": [
                  {"linear": true, "ports": 64, "correct": 64, "predicted": 64, "accuracy": 1.0,
                   "picked_unevenness": 0},
                  {"linear": true, "ports": 64, "correct": 48, "predicted": 64, "accuracy": 0.75,
                   "picked_unevenness": 2},
                  {"linear": false, "ports": 80, "correct": 80, "predicted": 40, "accuracy": null,
                   "picked_unevenness": 1},
                  {"linear": false, "ports": 80, "correct": 80, "predicted": 80, "accuracy": 0.25,
                   "picked_unevenness": 1}]}
                """));
    assertEquals(0.75, named(figures, "ports measured as counted").median());
    assertEquals(0.5, named(figures, "ports predicted as counted").median());
    assertEquals(0.75, named(figures, "fit of linear hashes").median());
    assertEquals(0.25, named(figures, "fit of other hashes").median());
    assertEquals(2, named(figures, "picked ports, uneven by").median());
  }

  @Test
  void labCheckTakesTheWorstRowAndIgnoresHashForSpraying() throws Exception {
    List<Figure> figures =
        FigureReader.LAB_CHECK.read(
            json(
                """
                {"rows": [
                  {"mode": "hash", "flows": 64, "protocol_on_one_link": 64,
                   "data_on_all_links": 0, "uneven": 0.5, "link_pairs": 16},
                  {"mode": "spray", "flows": 64, "protocol_on_one_link": 48,
                   "data_on_all_links": 64, "uneven": 0.01, "link_pairs": 4},
                  {"mode": "spraylink", "flows": 64, "protocol_on_one_link": 64,
                   "data_on_all_links": 32, "uneven": 0.03, "link_pairs": 15}]}
                """));
    assertEquals(0.75, named(figures, "protocol flows on one link").median());
    assertEquals(0.5, named(figures, "sprayed flows on all links").median());
    assertEquals(0.03, named(figures, "sprayed links uneven by").median());
    assertEquals(4, named(figures, "pairs of links in two tiers").median());
  }

  @Test
  void simulateCheckTakesTheLargestDeviation() throws Exception {
    List<Figure> figures =
        FigureReader.SIMULATE_CHECK.read(
            json(
                """
                {"rows": [{"expected": 100, "found": 90, "tolerance": 20},
                          {"expected": 1.0, "found": 1.03, "tolerance": 0.04}]}
                """));
    assertEquals(
        0.75, named(figures, "worst figure off by, in parts of its tolerance").median(), 1e-9);
    assertEquals(2, named(figures, "figures").median());
  }

  @Test
  void schemesThatDifferFromTheFormulaAreCounted() throws Exception {
    List<Figure> figures =
        FigureReader.CONTROL_PLANE.read(
            json(
                """
                {"schemes": [{"scheme": "host routes", "in_table": 400000, "is_equal": true},
                             {"scheme": "prefix ORF", "in_table": 63, "is_equal": false}]}
                """));
    assertEquals(400_000, named(figures, "host routes, routes of a card").median());
    assertEquals(1, named(figures, "schemes that aren't as the arithmetic").median());
  }

  /* Without the figure, its target counts as not run. */
  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"rows\": [], \"schemes\": []}"})
  void emptyDocumentHasNoFigures(String nothing) throws Exception {
    assertEquals(List.of(), FigureReader.LAB_CHECK.read(json(nothing)));
    assertEquals(List.of(), FigureReader.CONTEST.read(json(nothing)));
    assertEquals(List.of(), FigureReader.SIMULATE_CHECK.read(json(nothing)));
    assertEquals(List.of(), FigureReader.CONTROL_PLANE.read(json(nothing)));
    assertEquals(List.of(), FigureReader.PATHS.read(json(nothing)));
  }

  @Test
  void labThatOnlyHashesHasNoSprayFigures() throws Exception {
    List<Figure> figures =
        FigureReader.LAB_CHECK.read(
            json(
                """
                {"rows": [{"mode": "hash", "flows": 64, "protocol_on_one_link": 64,
                  "data_on_all_links": 0, "uneven": 0.5, "link_pairs": 16}]}
                """));
    assertEquals(
        List.of("protocol flows on one link", "pairs of links in two tiers"),
        figures.stream().map(Figure::name).toList());
  }

  @Test
  void wanFiguresKeepTheirNames() throws Exception {
    List<Figure> figures =
        FigureReader.WAN.read(
            json(
                """
                {"steps": [{"name": "a", "passed": true}, {"name": "b", "holds": false}],
                 "figures": [
                  {"test": "F", "name": "10,000 rules by BGP active", "value": 1500, "unit": "ms",
                   "is_least": false, "bound": 2000},
                  {"test": "I", "name": "solver", "value": 1.3, "unit": ""}]}
                """));
    assertEquals(0.5, named(figures, "steps that hold").median());
    assertEquals(
        Figure.of("10,000 rules by BGP active", "ms", 1500).within(Bound.atMost(2000)),
        named(figures, "10,000 rules by BGP active"));
    assertEquals(1.3, named(figures, "solver").median());
    assertEquals(List.of(), FigureReader.WAN.read(json("{}")));
  }

  private static List<Figure> latency(String rows) throws Exception {
    JsonNode report = Json.mapper().readTree("{\"rows\": [" + rows + "]}");
    return FigureReader.BRIDGE_LATENCY.read(report);
  }

  private static String row(String joining, String load, double median) {
    return String.format(
        Locale.ROOT,
        "{\"joining\": \"%s\", \"load\": \"%s\", \"added_median_us\": %s, \"added_p999_us\": 99,"
            + " \"capacity_packets_per_second\": %s}",
        joining,
        load,
        median,
        1000 * median);
  }

  @Test
  void latencyRatioOfBridgeToForwarderIsGivenForEachLoad() throws Exception {
    List<Figure> figures =
        latency(
            String.join(
                ",",
                row("one fabric", "idle", 0),
                row("bridge", "idle", 30),
                row("bridge, spinning", "idle", 15),
                row("C forwarder", "idle", 20),
                row("bridge", "half", 40),
                row("C forwarder", "half", 10)));
    assertEquals(1.5, named(figures, "idle, bridge added ÷ C forwarder").median());
    assertEquals(0.5, named(figures, "idle, spinning bridge added ÷ sleeping").median());
    assertEquals(4, named(figures, "half, bridge added ÷ C forwarder").median());
    assertEquals(15, named(figures, "idle, bridge, spinning, added median").median());
    assertEquals(4, named(figures, "at most, bridge ÷ C forwarder").median());
    assertEquals(99, named(figures, "half, bridge, added 99.9 %").median());
    assertTrue(figures.stream().noneMatch(each -> each.name().contains("one fabric")));
  }

  @Test
  void withoutSpinningBridgeItsFigureIsAbsent() throws Exception {
    List<Figure> figures =
        latency(row("bridge", "idle", 30) + "," + row("C forwarder", "idle", 20));
    assertTrue(figures.stream().noneMatch(each -> each.name().contains("spinning")));
  }
}
