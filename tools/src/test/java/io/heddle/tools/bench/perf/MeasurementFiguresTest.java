package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.AllReduceEvent;
import io.heddle.tools.job.AllReduceResult;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Test of the figures that each measurement derives from the values of its rounds. */
class MeasurementFiguresTest {
  private static Contest contest(String naming) {
    return new Contest("perf x", "a title", naming, 3);
  }

  private static void add(
      Contest to, String step, String contestant, String quantity, String unit, double... rounds) {
    for (double each : rounds) {
      to.add(step, contestant, quantity, unit, each);
    }
  }

  private static Map<String, Figure> figures(Contest of) {
    Map<String, Figure> figures = new TreeMap<>();
    of.results().figures().forEach(each -> figures.put(each.name(), each));
    return figures;
  }

  private static double median(Contest of, String name) {
    Figure found = figures(of).get(name);
    assertTrue(found != null, () -> name + " isn't in " + figures(of).keySet());
    return found.median();
  }

  @Test
  void planesAreComparedWithTheRivalAndWithOnePlane() {
    Contest contest = contest("%1$s, %2$s%3$s");
    add(contest, "bandwidth 1M", "1 plane", "", "Gbit/s", 30, 40, 45);
    add(contest, "bandwidth 1M", "4 planes", "", "Gbit/s", 33, 36, 45);
    add(contest, "bandwidth 1M", "the rival", "", "Gbit/s", 60, 50, 40);
    PerfPluginCommand.compare(contest, "1 plane", "the rival", " ÷ TCP");
    assertEquals(0.8, median(contest, "bandwidth 1M, 1 plane ÷ TCP"));
    assertEquals(45.0 / 60, median(contest, "bandwidth 1M, 1 plane ÷ TCP, best quarters"));
    assertEquals(1.0, median(contest, "bandwidth 1M, 4 planes ÷ 1 plane"));
    assertEquals(1.0, median(contest, "bandwidth 1M, 4 planes ÷ 1 plane, best quarters"));
    assertEquals(
        new Figure("bandwidth 1M, 4 planes", "Gbit/s", 36, 33, 45),
        figures(contest).get("bandwidth 1M, 4 planes"));
    assertFalse(figures(contest).containsKey("bandwidth 1M, 1 plane ÷ 1 plane"));
    assertFalse(figures(contest).containsKey("bandwidth 1M, the rival ÷ 1 plane"));
  }

  @Test
  void allReduceHasTimeAndBusBandwidthOfEachSize() throws Exception {
    AllReduceResult result =
        AllReduceResult.of(
            List.of(
                new AllReduceEvent.Size(4096, 1024, 5, 20, 0),
                new AllReduceEvent.Size(4096, 1024, 5, 1, 0)));
    Contest contest = contest("%1$s, %2$s%3$s");
    contest.measure(
        List.of("all-reduce "),
        0,
        List.of(new AllReduceContestant("1 plane", () -> List.of(result))));
    assertEquals(20, median(contest, "all-reduce 4K, 1 plane"));
    assertEquals(0.2048, median(contest, "all-reduce 4K, 1 plane, bus bandwidth"), 1e-9);
  }

  @Test
  void onlyContestantsWithLossAreComparedWithLossless() {
    Contest contest = contest("%2$s%3$s");
    add(contest, "bandwidth 1M", "spray", "", "Gbit/s", 10, 10);
    add(contest, "bandwidth 1M", "packet", "", "Gbit/s", 9.5, 9.7);
    add(contest, "bandwidth 1M", "packet, loss", "", "Gbit/s", 7.6, 9.7);
    PerfPacketCommand.compare(contest, "bandwidth 1M");
    assertEquals(0.96, median(contest, "packet ÷ spray"), 1e-9);
    assertEquals(0.9, median(contest, "packet, loss ÷ lossless"), 1e-9);
    assertFalse(figures(contest).containsKey("packet ÷ lossless"));
  }

  @Test
  void sprayIsComparedWithTheBestOtherPolicy() {
    Contest contest = contest("%1$s, %2$s%3$s");
    add(contest, "bursts", "hash", " ÷ ideal", "", 0.5, 0.6, 0.7);
    add(contest, "bursts", "spray", " ÷ ideal", "", 0.9);
    add(contest, "bursts", "pinned", " ÷ ideal", "", 0.8, Double.NaN);
    add(contest, "equal", "pinned", " ÷ ideal", "", 2);
    PerfPoliciesCommand.compareWithBest(contest, "bursts");
    assertEquals(0.9 / 0.8, median(contest, "bursts, spray ÷ best other"), 1e-9);
    PerfPoliciesCommand.compareWithBest(contest, "equal");
    assertTrue(Double.isNaN(median(contest, "equal, spray ÷ best other")));
  }

  private static void addSwitched(
      Contest to, String contestant, double gbps, double capacity, double needless, double marked) {
    add(to, "quarter", contestant, "", "Gbit/s", gbps);
    add(to, "quarter", contestant, " ÷ capacity", "", capacity);
    add(to, "quarter", contestant, ", needless sendings", "", needless);
    add(to, "quarter", contestant, ", marked", "", marked);
  }

  @Test
  void switchingTakesTheWorstPolicyAndSeparatesStandardPeers() {
    Contest contest = contest("%1$s, %2$s%3$s");
    addSwitched(contest, "pinned, hash", 2, 0.4, 0.5, 0.9);
    addSwitched(contest, "pinned, spraylink", 5, 0.98, 0.0002, 0.9);
    addSwitched(contest, "spray, hash", 2, 0.41, 0.5, 0.9);
    addSwitched(contest, "spray, spraylink", 3, 0.96, 0.0001, 0.9);
    addSwitched(contest, "standard, hash", 1, 0.4, 0, 0);
    addSwitched(contest, "standard, spraylink", 0.99, 0.4, 0, 0);
    addSwitched(contest, "rxe, hash", 1, 0.5, 0, 0);
    addSwitched(contest, "rxe, spray", 0.97, 0.5, 0, 0);
    addSwitched(contest, "rxe, spraylink", 0.98, 0.2, 0.3, 0.1);
    PerfSwitchingCommand.summarise(contest);
    assertEquals(0.4, median(contest, "quarter, hash, worst policy ÷ capacity"));
    assertEquals(0.96, median(contest, "quarter, spraylink, worst policy ÷ capacity"));
    assertEquals(1.5, median(contest, "quarter, spraylink, worst policy ÷ hash"));
    assertEquals(2.5, median(contest, "quarter, pinned, spraylink ÷ hash"));
    assertEquals(0.0002, median(contest, "needless sendings under spraylink"));
    assertEquals(0.99, median(contest, "standard peers, worst ÷ hash"));
    assertEquals(0, median(contest, "standard peers, marked"));
    assertEquals(0.97, median(contest, "the kernel's devices, worst ÷ hash"));
    assertEquals(0.1, median(contest, "the kernel's devices, marked"));
  }

  @Test
  void policiesThatWereNotMeasuredHaveNoFigures() {
    Contest contest = contest("%1$s, %2$s%3$s");
    addSwitched(contest, "pinned, spray", 2, 0.4, 0.5, 0.9);
    PerfSwitchingCommand.summarise(contest);
    assertTrue(
        figures(contest).keySet().stream()
            .noneMatch(name ->
                name.contains("hash") || name.contains("standard") || name.contains("kernel")),
        figures(contest)::toString);
  }

  private static Contest calls() {
    Contest contest = contest("%2$s: %1$s%3$s");
    Map<String, List<Double>> cases =
        Map.of(
            "message", List.of(280.0, 200.0),
            "isend 1 chunk", List.of(240.0, 70.0),
            "isend 8 chunks", List.of(590.0, 350.0),
            "test not ready", List.of(30.0, 5.0),
            "test not ready of 32", List.of(4.0, 5.0),
            "indirect call", List.of(2.0, 2.0));
    cases.forEach((step, ns) -> {
      add(contest, step, "Java", "", "ns", ns.get(0) * 2, ns.get(0), ns.get(0) / 2);
      add(contest, step, "C", "", "ns", ns.get(1) * 2, ns.get(1), ns.get(1) / 2);
    });
    return contest;
  }

  private static List<String> missedCalls(double p9999Us, double pauseUs, Long allocated) {
    Contest contest = calls();
    PerfCallsCommand.addFigures(
        contest, "Java", new CallCostContestant.Soak(p9999Us, pauseUs, allocated));
    return contest.results().figures().stream()
        .filter(each -> each.bound() != null && !each.bound().holds(each.median()))
        .map(Figure::name)
        .toList();
  }

  @Test
  void tailPauseAndAllocationOfCallsMissSeparateBounds() {
    assertEquals(List.of(), missedCalls(19.9, 1_999, 0L));
    assertEquals(List.of("Java: 99.99 % of calls within, us"), missedCalls(20.1, 1, 0L));
    assertEquals(List.of("Java: longest pause of the Java machine, ms"), missedCalls(1, 2_001, 0L));
    assertEquals(List.of("Java: bytes allocated in the soaks"), missedCalls(1, 1, 1024L));
  }

  @Test
  void callsHaveBoundsAndTheCostOfEnteringJava() {
    Contest contest = calls();
    PerfCallsCommand.addFigures(contest, "Java", new CallCostContestant.Soak(1, 1, null));
    assertEquals(
        Figure.of("Java: isend + irecv + test, times C", "", 1.4).within(Bound.atMost(1.7)),
        figures(contest).get("Java: isend + irecv + test, times C"));
    assertEquals(
        6, figures(contest).values().stream().filter(each -> each.bound() != null).count());
    assertEquals(
        3 * 28.0 / 80,
        median(contest, "Java: entering Java and returning, part of a message's difference to C"));
  }

  private static JsonNode json(String text) throws Exception {
    return Json.mapper().readTree(text);
  }

  private static Map<String, JsonNode> events() throws Exception {
    Map<String, JsonNode> events = new HashMap<>();
    events.put("begun", json("{\"threads\": 2, \"resident_kib\": 976}"));
    events.put("first", json("{\"connections\": 1, \"descriptors\": 20, \"resident_kib\": 1000}"));
    events.put(
        "up",
        json(
            "{\"connections\": 4, \"descriptors\": 60, \"resident_kib\": 1400, \"seconds\": 1.5}"));
    events.put("moved", json("{\"seconds\": 0.25}"));
    events.put(
        "idle",
        json(
            "{\"threads\": 14, \"resident_kib\": 2000, \"seconds\": 2, \"processor_seconds\":"
                + " 0.01}"));
    return events;
  }

  @Test
  void costOfAConnectionIsGrowthBeyondTheFirstPerDirection() throws Exception {
    Map<String, Double> costs = new TreeMap<>();
    PerfScaleCommand.addCosts(
        events(), 10, "4 connections", (step, quantity, unit, value) -> costs.put(quantity, value));
    assertEquals(
        Map.of(
            ": set up", 1.5,
            ": a message", 5_000.0,
            ": a processor while idle", 0.5,
            ": memory more than without", 1.0,
            ": memory a connection", 50.0,
            ": descriptors a connection", 5.0,
            ": threads", 12.0),
        costs);
  }

  @Test
  void missingEventOfARankFails() throws Exception {
    Map<String, JsonNode> events = events();
    events.remove("moved");
    HeddleException missing =
        assertThrows(
            HeddleException.class,
            () -> PerfScaleCommand.addCosts(events, 10, "x", (step, quantity, unit, value) -> {}));
    assertEquals("a rank did not report \"moved\"", missing.getMessage());
  }

  private static Recovery recovery(double gapMs, Double fullSpeedMs) {
    return new Recovery(10, gapMs, fullSpeedMs, 500, 500);
  }

  @Test
  void planeThatNeverRecoversCountsWithTheWholePeriodAndMissesTheAim() {
    Contest contest = contest("%1$s%3$s");
    assertFalse(
        PerfFailoverCommand.add(
            contest, FailoverCase.CARRIER, List.of(recovery(30, 40.0), recovery(2900, null))));
    assertEquals(
        new Figure("carrier, full speed after", "ms", 1520, 40, 3000, Bound.atMost(50)),
        figures(contest).get("carrier, full speed after"));
    assertEquals(
        new Figure("carrier, longest gap ÷ usual", "", 146.5, 3, 290),
        figures(contest).get("carrier, longest gap ÷ usual"));
    assertTrue(contest.table().contains("# carrier: 1 of 2 rounds missed the aim"));
    assertTrue(
        PerfFailoverCommand.add(contest, FailoverCase.SILENT, List.of(recovery(900, 1_000.0))));
  }

  @Test
  void withdrawalMayNotStall() {
    Contest contest = contest("%1$s%3$s");
    assertTrue(
        PerfFailoverCommand.add(contest, FailoverCase.WITHDRAWAL, List.of(recovery(20, 400.0))));
    assertFalse(
        PerfFailoverCommand.add(contest, FailoverCase.WITHDRAWAL, List.of(recovery(21, 0.0))));
    assertEquals(Bound.atMost(2), figures(contest).get("withdrawal, longest gap ÷ usual").bound());
  }

  @Test
  void feedsAreComparedWithBirdForTheSameSenderAndTheSlowestCounts() throws Exception {
    Contest contest = contest("feed by %1$s, %2$s%3$s");
    PerfBgpCommand.add(
        contest,
        json(
            """
            {"peers": 4, "runs": [
              {"receiver": "heddle", "sender": "bird", "feed": "packed", "seconds": 0.5,
               "memory_mb": {"Pss": 52, "VmRSS": 72}, "memory_before_mb": {"VmRSS": 71}, "prefixes": 7, "change_us": [3, 4]},
              {"receiver": "bird", "sender": "bird", "feed": "packed", "seconds": 0.4},
              {"receiver": "heddle", "sender": "frr", "feed": "packed", "seconds": 0.8},
              {"receiver": "heddle", "sender": "bird", "feed": "aggregate", "seconds": 0},
              {"receiver": "bird", "sender": "frr", "feed": "other", "seconds": 9}]}
            """));
    assertEquals(1.25, median(contest, "feed by bird packed, heddle ÷ BIRD"), 1e-9);
    assertFalse(figures(contest).containsKey("feed by frr packed, heddle ÷ BIRD"));
    assertFalse(figures(contest).containsKey("feed by bird aggregate, heddle"));
    assertEquals(0.8, median(contest, "slowest feed"));
    assertEquals(52, median(contest, "feed by bird packed, heddle, Pss"));
    assertEquals(1, median(contest, "feed by bird packed, heddle, VmRSS grown by"));
    assertEquals(3.5, median(contest, "feed by bird packed, heddle, change"));
  }

  @Test
  void slowestFeedIsAbsentWithoutTimedFeed() throws Exception {
    Contest contest = contest("feed by %1$s, %2$s%3$s");
    PerfBgpCommand.add(contest, json("{\"runs\": []}"));
    assertEquals(Map.of(), figures(contest));
  }
}
