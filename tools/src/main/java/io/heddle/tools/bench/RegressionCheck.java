package io.heddle.tools.bench;

import io.heddle.platform.HeddleException;
import io.heddle.tools.Installation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether a change has made the plugin much slower: a short run's ratios beside the recorded ones.
 *
 * <p>Ratios only, of contestants that took turns, and the best of several rounds: a machine that is
 * slow or busy is so for both. Only what is worse by {@link #TIMES} in every round of {@link
 * #TURNS} runs counts.
 */
final class RegressionCheck {
  /** Neither noise nor another machine makes so much. */
  private static final double TIMES = 2;

  private static final int TURNS = 3;

  /** What is compared: a figure, where it was recorded, and which side is good. */
  private record Compared(String measurement, String figure, Target.Bound good) {}

  private static final List<Compared> COMPARED =
      List.of(
          new Compared(Measurements.PLUGIN, "bandwidth 2M, 1 plane ÷ TCP", Target.Bound.AT_LEAST),
          new Compared(
              Measurements.PLUGIN, "bandwidth 2M, 4 planes ÷ 1 plane", Target.Bound.AT_LEAST),
          new Compared(Measurements.LATENCY, "latency 8B, 1 plane ÷ TCP", Target.Bound.AT_MOST));

  private static final Measurement SHORT =
      new Measurement(
          "check",
          "bandwidth and round trips beside kernel TCP",
          List.of(
              "perf plugin --json --kinds bandwidth,latency --min-bytes 8 --factor 512 --max-bytes 2M"
                  .concat(" --latency-max-bytes 8 --rounds 5 --milliseconds 60")
                  .split(" ")),
          List.of(),
          false,
          120,
          Readings::plugin);

  private final Map<Compared, Double> best = new LinkedHashMap<>();

  private RegressionCheck() {}

  /**
   * @param recordedIn folder with {@link BenchReport#FILE}
   * @param quietly called while a run goes on
   * @return what was compared, a line each; a line that begins with {@code WORSE} is a regression
   * @throws HeddleException where nothing is recorded to compare with, or the run fails
   */
  static List<String> run(Path recordedIn, Runnable quietly)
      throws IOException, InterruptedException {
    List<Outcome> recorded = BenchReport.recorded(recordedIn);
    RegressionCheck check = new RegressionCheck();
    List<String> lines = List.of();
    for (int turn = 1; turn <= TURNS; turn++) {
      List<Figure> figures = SHORT.reading().read(ChildRun.of(SHORT, false, quietly));
      lines = check.compare(recorded, figures, turn);
      if (lines.stream().noneMatch(line -> line.startsWith("WORSE"))) {
        break;
      }
    }
    return lines;
  }

  /** What the check runs, for people. */
  static String command() {
    return "./" + SHORT.command(false);
  }

  private List<String> compare(List<Outcome> recorded, List<Figure> figures, int turn) {
    List<String> lines = new ArrayList<>();
    for (Compared compared : COMPARED) {
      Outcome outcome = recordOf(recorded, compared);
      Figure before = outcome == null ? null : outcome.figure(compared.figure());
      Figure now =
          figures.stream()
              .filter(each -> each.name().equals(compared.figure()))
              .findFirst()
              .orElse(null);
      if (outcome == null || before == null || now == null) {
        throw new HeddleException(
            "there is no '%s' %s; heddle bench --only %s records it"
                .formatted(
                    compared.figure(),
                    now == null ? "in the run" : "recorded in " + Installation.RESULTS,
                    compared.measurement()));
      }
      boolean moreIsGood = compared.good() == Target.Bound.AT_LEAST;
      double own = moreIsGood ? now.most() : now.least();
      double seen = best.merge(compared, own, moreIsGood ? Math::max : Math::min);
      double limit = moreIsGood ? before.median() / TIMES : before.median() * TIMES;
      boolean fine = moreIsGood ? seen >= limit : seen <= limit;
      lines.add(
          String.format(
              Locale.ROOT,
              "%s %s: %s in the best round of %d run%s, recorded %s at commit %s, %s %s allowed",
              fine ? "fine " : "WORSE",
              compared.figure(),
              Target.number(seen),
              turn,
              turn == 1 ? "" : "s",
              Target.number(before.median()),
              outcome.commit(),
              moreIsGood ? "no less than" : "no more than",
              Target.number(limit)));
    }
    return lines;
  }

  private static @Nullable Outcome recordOf(List<Outcome> recorded, Compared compared) {
    return recorded.stream()
        .filter(each -> each.measurement().equals(compared.measurement()))
        .findFirst()
        .orElse(null);
  }
}
