package io.heddle.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Test that runs every benchmark briefly. It doesn't check the figures. */
final class BenchmarksTest {
  @Test
  void everyBenchmarkRuns() throws RunnerException {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include("io.heddle.perf")
                    .forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(20))
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .run();
    Set<String> ran = new TreeSet<>();
    for (RunResult result : results) {
      String name = result.getParams().getBenchmark();
      ran.add(name.substring("io.heddle.perf.".length()));
      assertTrue(result.getPrimaryResult().getScore() > 0, name);
    }
    assertEquals(
        Set.of(
            "ClockBenchmark.bothClocks",
            "ClockBenchmark.injectedClock",
            "ClockBenchmark.systemCall",
            "HandOffBenchmark.bellsByBits",
            "HandOffBenchmark.bellsByJctools",
            "HandOffBenchmark.eventsByJctools",
            "HandOffBenchmark.eventsByRing",
            "HandOffBenchmark.receivesByJctools",
            "HandOffBenchmark.receivesByRows",
            "HandOffBenchmark.tasksByJctools",
            "HandOffBenchmark.tasksByLinkedQueue",
            "MessageBenchmark.heddle",
            "MessageBenchmark.tcp",
            "ReorderBenchmark.bitSets",
            "ReorderBenchmark.reorderWindow",
            "RouteLookupBenchmark.hashMap",
            "RouteLookupBenchmark.memory",
            "RouteLookupBenchmark.routesFile",
            "SprayBenchmark.planMessages",
            "TableBenchmark.attributesByAgrona",
            "TableBenchmark.attributesByHashMap",
            "TableBenchmark.descriptorsByAgrona",
            "TableBenchmark.descriptorsByHashMap",
            "TableBenchmark.idChangesByAgrona",
            "TableBenchmark.idChangesBySlot",
            "TableBenchmark.idsByAgrona",
            "TableBenchmark.idsBySlot",
            "TableBenchmark.regionsByAgrona",
            "TableBenchmark.regionsByRow",
            "WeightLookupBenchmark.concurrentMap",
            "WeightLookupBenchmark.snapshot"),
        ran);
  }
}
