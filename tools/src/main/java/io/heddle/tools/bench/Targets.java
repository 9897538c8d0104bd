package io.heddle.tools.bench;

import static io.heddle.tools.bench.Target.atLeast;
import static io.heddle.tools.bench.Target.atMost;
import static io.heddle.tools.bench.Target.unmeasured;

import java.util.ArrayList;
import java.util.List;

/** What the project wants to reach. */
final class Targets {
  private Targets() {}

  static List<Target> all() {
    List<Target> targets = new ArrayList<>();
    targets.addAll(besideTcp());
    for (String situation : List.of("equal", "announced", "unannounced", "bursts")) {
      targets.add(atLeast("policies", Measurements.POLICIES, situation + ", spray ÷ ideal", 0.95));
      targets.add(
          atLeast("policies", Measurements.POLICIES, situation + ", spray ÷ best other", 0.97));
    }
    targets.addAll(startAndSteps());
    return targets;
  }

  private static List<Target> besideTcp() {
    String group = "beside one TCP stream, MTU 9000";
    String narrow = "beside one TCP stream, MTU 1500";
    return List.of(
        atLeast(group, Measurements.PLUGIN, "bandwidth 64K, 1 plane ÷ TCP", 1.0),
        atLeast(group, Measurements.PLUGIN, "bandwidth 128K, 1 plane ÷ TCP", 0.7),
        atLeast(group, Measurements.PLUGIN, "bandwidth 1M, 1 plane ÷ TCP", 0.85),
        atLeast(group, Measurements.PLUGIN, "bandwidth 4M, 1 plane ÷ TCP", 0.85),
        atLeast(group, Measurements.PLUGIN, "duplex 1M, 1 plane ÷ TCP", 0.8),
        atLeast(group, Measurements.PLUGIN, "bandwidth 1M, 4 planes ÷ 1 plane", 1.0),
        atLeast(group, Measurements.PLUGIN, "bandwidth 4M, 4 planes ÷ 1 plane", 1.0),
        atMost(group, Measurements.LATENCY, "latency 8B, 1 plane ÷ TCP", 0.85),
        atLeast(narrow, Measurements.PLUGIN_1500, "bandwidth 1M, 1 plane ÷ TCP", 0.85),
        atLeast(narrow, Measurements.PLUGIN_1500, "bandwidth 4M, 1 plane ÷ TCP", 0.85),
        atLeast(
            "all-reduce",
            Measurements.ALL_REDUCE,
            "all-reduce 4M, 1 plane, TCP's time ÷ ours",
            1.0),
        unmeasured(
            "four flows beside four streams", "the TCP plugin has one stream a communicator"));
  }

  private static List<Target> startAndSteps() {
    return List.of(
        atMost("start", Measurements.PLUGIN, "start", 150),
        atMost("start", Measurements.PLUGIN, "resident", 100),
        atLeast("fabric", Measurements.FABRIC, "time under hash ÷ under spray", 1.0),
        atMost("fabric", Measurements.FABRIC, "shares under spray off by", 3),
        atMost("fabric", Measurements.FABRIC, "new weights followed after", 1_000),
        atMost("steps", Measurements.STEPS, "ReorderBenchmark.reorderWindow planes", 20),
        atMost(
            "steps", Measurements.STEPS, "ReorderBenchmark.reorderWindow planes, allocated", 0.01),
        atMost("steps", Measurements.STEPS, "RouteLookupBenchmark.routesFile", 200),
        atMost("steps", Measurements.STEPS, "WeightLookupBenchmark.snapshot", 5),
        atMost("routes", Measurements.ROUTES, "slowest feed", 1));
  }
}
