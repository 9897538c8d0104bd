package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Machine;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Factory of made-up outcomes for tests. */
final class Outcomes {
  static final Machine MACHINE = new Machine("a processor", 2, 4, "6.1", "a JVM");

  private Outcomes() {}

  static Outcome of(String measurement, Figure... figures) {
    return of(measurement, false, null, figures);
  }

  static Outcome quick(String measurement, Figure... figures) {
    return of(measurement, true, null, figures);
  }

  static Outcome failed(String measurement, String reason, Figure... figures) {
    return of(measurement, false, reason, figures);
  }

  /** Returns a map with this outcome only, as targets take it. */
  static Map<String, Outcome> only(Outcome outcome) {
    return Map.of(outcome.measurement(), outcome);
  }

  /** Returns the same outcome as if another machine had been measured. */
  static Outcome elsewhere(Outcome own) {
    return new Outcome(
        own.measurement(),
        own.command(),
        own.quick(),
        own.commit(),
        own.time(),
        own.seconds(),
        own.loadBefore(),
        own.loadAfter(),
        new Machine("another processor", 2, 4, "6.1", "a JVM"),
        own.figures(),
        own.failure(),
        own.notStarted(),
        own.laterFailure());
  }

  private static Outcome of(
      String measurement, boolean quick, @Nullable String failure, Figure... figures) {
    return new Outcome(
        measurement,
        "heddle x",
        quick,
        "0123abc",
        "2026-01-02 03:04",
        12,
        0.5,
        1.5,
        MACHINE,
        List.of(figures),
        failure,
        false,
        null);
  }
}
