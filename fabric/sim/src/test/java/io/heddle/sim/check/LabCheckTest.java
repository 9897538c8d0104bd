package io.heddle.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabCheckTest {
  /*
   * In this simulation each poll completes one chunk, so the policy learns of the planes' progress
   * one chunk at a time.
   */
  @ParameterizedTest
  @ValueSource(doubles = {0.05, 0.12, 0.4, 2})
  void unannouncedQuarterIsDetectedAgainAndAgain(double rateGbps) {
    LabCheck lab = new LabCheck(4, rateGbps, 1 << 20, 8, 20);
    double all = 3 + 1.0 / 4;
    MeasuredLab ideal =
        new MeasuredLab(
            "ideal",
            "spray",
            false,
            true,
            all * rateGbps,
            List.of(1.0 / 4 / all, 1 / all, 1 / all, 1 / all));
    assertEquals(
        List.of(),
        lab.rows(ideal, 1).stream().filter(row -> !row.isWithin()).toList(),
        "not within");
  }
}
