package io.heddle.cli.bench;

import io.heddle.cli.bench.perf.Machine;
import java.util.List;
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
        null);
  }
}
