package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Test of {@link FigureReaders} and {@link CostFigures} on shortened JSON documents. */
class FigureReadersTest {
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

  @ParameterizedTest
  @CsvSource({
    "0, 0B",
    "8, 8B",
    "1023, 1023B",
    "1024, 1K",
    "1025, 1025B",
    "65536, 64K",
    "1048575, 1048575B",
    "1048576, 1M",
    "1049600, 1025K",
    "4194304, 4M"
  })
  void sizesHaveTheNotationOfOptions(long bytes, String text) {
    assertEquals(text, FigureReaders.size(bytes));
  }

  @Test
  void bestQuarterOfLatenciesIsTheLowest() throws Exception {
    List<Figure> figures =
        FigureReaders.plugin(
            json(
                """
                {"contestants": [{"name": "Heddle, 1 plane"}, {"name": "TCPref, the rival"}],
                 "sections": [{"kind": "LATENCY", "unit": "us", "rows": [{"bytes": 8, "cells": [
                   {"median": 9, "least": 8, "most": 20, "rounds": [20, 8, 9, 9, 10]},
                   {"median": 10, "least": 10, "most": 30, "rounds": [10, 10, 10, 10, 30]}]}]}]}
                """));
    assertEquals(0.9, named(figures, "latency 8B, 1 plane ÷ TCP, best quarters").median(), 1e-9);
    assertEquals(
        new Figure("latency 8B, 1 plane", "us", 9, 8, 20), named(figures, "latency 8B, 1 plane"));
  }

  @Test
  void roundThatFailedOnOneSideHasNoRatio() throws Exception {
    List<Figure> figures =
        FigureReaders.plugin(
            json(
                """
                {"contestants": [{"name": "Heddle, 1 plane"}, {"name": "TCPref"}],
                 "sections": [{"kind": "BANDWIDTH", "unit": "Gbit/s", "rows": [{"bytes": 1024, "cells": [
                   {"rounds": [10, null, 30]}, {"rounds": [20, 20, null]}]}]}]}
                """));
    Figure ratio = named(figures, "bandwidth 1K, 1 plane ÷ TCP");
    assertEquals(0.5, ratio.least());
    assertEquals(0.5, ratio.most());
  }

  @Test
  void ratioWithoutRoundsIsNaN() throws Exception {
    List<Figure> figures =
        FigureReaders.plugin(
            json(
                """
                {"contestants": [{"name": "Heddle, 1 plane"}, {"name": "TCPref"}],
                 "sections": [{"kind": "BANDWIDTH", "unit": "Gbit/s", "rows": [{"bytes": 1024, "cells": [
                   {"rounds": []}, {"rounds": []}]}]}]}
                """));
    assertTrue(Double.isNaN(named(figures, "bandwidth 1K, 1 plane ÷ TCP").median()));
    assertTrue(Double.isNaN(named(figures, "bandwidth 1K, 1 plane ÷ TCP, best quarters").median()));
  }

  @Test
  void allReduceRatioKeepsItsSpread() throws Exception {
    JsonNode report =
        json(
            """
            {"contestants": ["Heddle, 1 plane", "Heddle, 4 planes", "TCPref"],
             "rows": [{"bytes": 4194304, "cells": [
               {"median_us": 100, "least_us": 80, "most_us": 200, "rival_ratio": 1.2},
               {"median_us": 120, "least_us": 120, "most_us": 120, "rival_ratio": 1},
               {"median_us": 120, "least_us": 100, "most_us": 150, "rival_ratio": 1}]}]}
            """);
    List<Figure> figures = FigureReaders.allReduce(report);
    assertEquals(
        new Figure("all-reduce 4M, 1 plane, TCP's time ÷ ours", "", 1.2, 0.6, 1.5),
        named(figures, "all-reduce 4M, 1 plane, TCP's time ÷ ours"));
    assertEquals(2, figures.size(), "the rival isn't compared with itself");
    assertEquals(
        List.of("4M, 1 plane, one device's time ÷ its", "4M, 4 planes, one device's time ÷ its"),
        FigureReaders.standin(report).stream().map(Figure::name).toList());
  }

  @Test
  void firstWindowAfterWeightChangeIsIgnored() throws Exception {
    List<Figure> figures =
        FigureReaders.fabric(
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
        FigureReaders.fabric(json("{\"change\": {\"followed_after_ms\": null, \"windows\": []}}"));
    assertAbsent(figures, "new weights followed after");
  }

  @Test
  void sprayIsComparedWithTheBestOtherPolicy() throws Exception {
    List<Figure> figures =
        FigureReaders.policies(
            json(
                """
                {"situations": [{"name": "bursts", "policies": [
                  {"policy": "hash", "of_ideal": [0.5, 0.6, 0.7], "message_p99_ms": [9]},
                  {"policy": "spray", "of_ideal": [0.9], "message_p99_ms": [4]},
                  {"policy": "pinned", "of_ideal": [0.8, null], "message_p99_ms": []}]}]}
                """));
    assertEquals(0.6, named(figures, "bursts, hash ÷ ideal").median());
    assertEquals(0.9 / 0.8, named(figures, "bursts, spray ÷ best other").median(), 1e-9);
    assertEquals(4, named(figures, "bursts, spray, message p99").median());
  }

  @Test
  void comparisonIsAbsentWithoutSpray() throws Exception {
    List<Figure> figures =
        FigureReaders.policies(
            json(
                """
                {"situations": [{"name": "equal", "policies": [
                  {"policy": "hash", "of_ideal": [0.5], "message_p99_ms": [9]}]}]}
                """));
    assertAbsent(figures, "equal, spray ÷ best other");
  }

  @Test
  void benchmarkNameIsClassMethodAndParameters() throws Exception {
    List<Figure> figures =
        FigureReaders.jmh(
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
  void onlyLossyRowsAreComparedWithLossless() throws Exception {
    List<Figure> figures =
        FigureReaders.packet(
            json(
                """
                {"rows": [
                  {"contestant": "packet", "loss": 0, "times_spray": [0.95, 0.97]},
                  {"contestant": "packet", "loss": 0.001, "times_spray": [0.9], "times_lossless": [0.85]}]}
                """));
    assertEquals(0.96, named(figures, "packet ÷ spray").median(), 1e-9);
    assertEquals(0.9, named(figures, "packet, loss ÷ spray").median());
    assertEquals(0.85, named(figures, "packet, loss ÷ lossless").median());
    assertAbsent(figures, "packet ÷ lossless");
  }

  @Test
  void floodFiguresAreRatiosOfRounds() throws Exception {
    List<Figure> figures =
        CostFigures.flood(
            json(
                """
                {"calm_gbps": [10, 12, 11], "flooded_gbps": [9, 11, 10], "times_calm": [0.9, 0.92, 0.91]}
                """));
    assertEquals(0.91, named(figures, CostFigures.FLOODED).median(), 1e-9);
    assertEquals(11, named(figures, "bandwidth without").median(), 1e-9);
    assertEquals(10, named(figures, "bandwidth with").median(), 1e-9);
  }

  @Test
  void feedsAreComparedWithBirdForTheSameSenderAndTheSlowestCounts() throws Exception {
    List<Figure> figures =
        FigureReaders.routes(
            json(
                """
                {"runs": [
                  {"receiver": "heddle", "sender": "bird", "feed": "full", "seconds": 0.5},
                  {"receiver": "bird", "sender": "bird", "feed": "full", "seconds": 0.4},
                  {"receiver": "heddle", "sender": "frr", "feed": "full", "seconds": 0.8},
                  {"receiver": "heddle", "sender": "bird", "feed": "idle", "seconds": 0},
                  {"receiver": "bird", "sender": "frr", "feed": "other", "seconds": 9}]}
                """));
    assertEquals(1.25, named(figures, "feed by bird full ÷ BIRD").median(), 1e-9);
    assertAbsent(figures, "feed by frr full ÷ BIRD");
    assertAbsent(figures, "feed by bird idle");
    assertEquals(0.8, named(figures, "slowest feed").median());
  }

  @Test
  void slowestFeedIsNaNWithoutTimedFeed() throws Exception {
    Figure slowest = named(FigureReaders.routes(json("{\"runs\": []}")), "slowest feed");
    assertTrue(Double.isNaN(slowest.median()));
    Target target = Target.atMost("routes", "routes", "slowest feed", 1);
    assertEquals(Target.Result.NOT_RUN, target.verdict(Outcomes.only(outcome(slowest))).result());
  }

  private static Outcome outcome(Figure figure) {
    return Outcomes.of("routes", figure);
  }

  @Test
  void callFiguresAreCasesAndVerdictsNamedByTarget() throws Exception {
    List<Figure> figures =
        CostFigures.calls(
            json(
                """
                {"contestants": [{"name": "Java", "cases": [
                   {"name": "isend_of_one", "median_ns": 90, "least_ns": 80, "least_times_c": 1.3}]}],
                 "verdicts": [{"contestant": "Java", "target": "isend of one chunk, ns, at most 250",
                   "found": 90}]}
                """));
    assertEquals(
        new Figure("Java: isend of one", "ns", 90, 80, 90), named(figures, "Java: isend of one"));
    assertEquals(1.3, named(figures, "Java: isend of one ÷ C").median());
    assertEquals(90, named(figures, "Java: isend of one chunk, ns").median());
  }

  @Test
  void upperQuartileIsTheMaximumOfVerbs() throws Exception {
    List<Figure> figures =
        CostFigures.verbs(
            json(
                """
                {"contestants": [{"name": "Java", "cases": [{"name": "full_poll", "median_ns": 50,
                  "least_ns": 40, "upper_quartile_ns": 60, "least_times_c": 1.5}]}]}
                """));
    assertEquals(
        new Figure("Java: full poll", "ns", 50, 40, 60), named(figures, "Java: full poll"));
  }

  @Test
  void startFiguresAreTimeProcessorTimeAndMemory() throws Exception {
    List<Figure> figures =
        CostFigures.start(
            json(
                """
                {"contestants": [{"name": "1 plane", "start_ms": [120, 100, 110],
                  "processor_ms": [200], "idle_mebibytes": [60, 62]}]}
                """));
    assertEquals(new Figure("init, 1 plane", "ms", 110, 100, 120), named(figures, "init, 1 plane"));
    assertEquals(61, named(figures, "resident when idle, 1 plane").median());
    assertEquals(200, named(figures, "processor time, 1 plane").median());
  }

  @Test
  void medianOfEvenCountIsBetweenTheMiddleValues() {
    assertEquals(new Figure("x", "", 2.5, 1, 4), Figure.of("x", "", List.of(4.0, 1.0, 3.0, 2.0)));
    assertEquals(new Figure("x", "", 3, 1, 9), Figure.of("x", "", List.of(9.0, 1.0, 3.0)));
    assertTrue(Double.isNaN(Figure.of("x", "", List.of()).median()));
    assertNull(Outcomes.of("m").figure("x"));
  }

  @Test
  void putsAreComparedWithMessagesOfTheSameRound() throws Exception {
    List<Figure> figures =
        CostFigures.oneSided(
            json(
                """
                {"rows": [{"test": "latency", "unit": "us", "puts": [12, 11, 30],
                  "messages": [10, 11, 20], "ratios": [1.2, 1.0, 1.5]}]}
                """));
    assertEquals(12, named(figures, "latency of puts").median());
    assertEquals(1.2, named(figures, "latency of puts ÷ messages").median());
    assertEquals(1.5, named(figures, "latency of puts ÷ messages").most());
  }

  @Test
  void pathsFiguresAreOfTheWorstHash() throws Exception {
    List<Figure> figures =
        FigureReaders.paths(
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
}
