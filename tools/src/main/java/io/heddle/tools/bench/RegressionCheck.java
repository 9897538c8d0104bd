package io.heddle.tools.bench;

import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Figure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Regression check, which compares the ratios of short runs with the recorded ones, by the table
 * {@code checks.txt}.
 *
 * <p>Contestants alternate in many short rounds, and the best quarter of each one's rounds counts,
 * since other load on the machine makes rounds worse and never better. A ratio that is worse by its
 * factor is measured again. It is a regression only if the second run confirms it.
 */
final class RegressionCheck {
  private static final int LIMIT_SECONDS = 120;
  private static final int TURNS = 2;
  private static final Map<Measurement, List<Compared>> CHECKS = read();

  /**
   * Figure of a measurement that the check compares.
   *
   * @param good side on which values are good
   * @param times factor by which a value must be worse than the recorded one to be a regression
   */
  record Compared(String measurement, String figure, Bound.Side good, double times) {}

  private RegressionCheck() {}

  private static Map<Measurement, List<Compared>> read() {
    Map<Measurement, List<Compared>> checks = new LinkedHashMap<>();
    List<Compared> compared = List.of();
    for (DataTable.Line line : DataTable.read("checks.txt")) {
      if (line.isIndented()) {
        compared.add(
            new Compared(
                line.cell(0),
                line.cell(1),
                line.cell(2).equals(">=") ? Bound.Side.AT_LEAST : Bound.Side.AT_MOST,
                Double.parseDouble(line.cell(3))));
      } else {
        List<String> words = List.of(line.cell(1).split(" "));
        FigureReader reader = FigureReader.named(line.cell(0));
        compared = new ArrayList<>();
        checks.put(
            new Measurement("check", "", words, words, reader, LIMIT_SECONDS, List.of()), compared);
      }
    }
    return checks;
  }

  /** Returns the command lines that the check runs. */
  static List<String> commands() {
    return CHECKS.keySet().stream().map(each -> "./" + each.command(false)).toList();
  }

  /**
   * Verifies that all compared figures are recorded.
   *
   * @throws HeddleException if a figure isn't recorded, with its name
   */
  static void requireRecorded(Path folder) {
    List<Outcome> recorded = BenchReport.recorded(folder);
    CHECKS.values().stream()
        .flatMap(List::stream)
        .forEach(each -> {
          Outcome outcome = recordOf(recorded, each);
          if (outcome == null || outcome.figure(each.figure()) == null) {
            throw new HeddleException(
                "no '%s' recorded in %s to compare with; run heddle bench --only %s"
                    .formatted(
                        each.figure(), folder.resolve(BenchReport.FILE), each.measurement()));
          }
        });
  }

  /**
   * Runs the check.
   *
   * @param recordedIn folder with the recorded report {@link BenchReport#FILE}
   * @param quietly action that is called a few times a second during a run, for a progress line
   * @return a line for each comparison; a line that begins with {@code WORSE} is a regression
   * @throws HeddleException if a compared figure isn't recorded, or a command fails
   */
  static List<String> run(Path recordedIn, Runnable quietly)
      throws IOException, InterruptedException {
    List<Outcome> recorded = BenchReport.recorded(recordedIn);
    Map<Measurement, List<String>> lines = new LinkedHashMap<>();
    Map<Compared, List<Double>> seen = new LinkedHashMap<>();
    for (int turn = 1; turn <= TURNS; turn++) {
      for (Map.Entry<Measurement, List<Compared>> each : CHECKS.entrySet()) {
        List<String> before = lines.get(each.getKey());
        if (before != null && before.stream().noneMatch(line -> line.startsWith("WORSE"))) {
          continue;
        }
        List<Figure> figures =
            each.getKey()
                .reader()
                .read(ChildRun.of(each.getKey(), false, LIMIT_SECONDS, quietly).json());
        List<String> own = new ArrayList<>();
        for (Compared compared : each.getValue()) {
          List<Double> values = seen.computeIfAbsent(compared, key -> new ArrayList<>());
          figures.stream()
              .filter(figure -> figure.name().equals(compared.figure()))
              .forEach(figure -> values.add(figure.median()));
          own.add(line(recorded, compared, values));
        }
        lines.put(each.getKey(), own);
      }
    }
    return lines.values().stream().flatMap(List::stream).toList();
  }

  /**
   * Returns a comparison as a line of text. The best of several runs counts.
   *
   * @param seen value of each run
   */
  static String line(List<Outcome> recorded, Compared compared, List<Double> seen) {
    Outcome outcome = recordOf(recorded, compared);
    Figure before = outcome == null ? null : outcome.figure(compared.figure());
    if (outcome == null || before == null || seen.isEmpty()) {
      throw new HeddleException(
          "no '%s' %s; run heddle bench --only %s"
              .formatted(
                  compared.figure(),
                  seen.isEmpty() ? "in the run's output" : "recorded",
                  compared.measurement()));
    }
    boolean moreIsGood = compared.good() == Bound.Side.AT_LEAST;
    double best =
        seen.stream()
            .reduce(moreIsGood ? Math::max : Math::min)
            .orElseThrow(IllegalStateException::new);
    /*
     * If the recorded ratio is above 1, only 1 is required: the rival may have been unusually slow
     * in that run.
     */
    double expected = moreIsGood ? Math.min(before.median(), 1) : before.median();
    double limit = moreIsGood ? expected / compared.times() : expected * compared.times();
    return String.format(
        Locale.ROOT,
        "%s %s: %s%s, recorded %s at commit %s, %s %s allowed",
        new Bound(compared.good(), limit).holds(best) ? "fine " : "WORSE",
        compared.figure(),
        Figure.number(best),
        seen.size() == 1 ? "" : " in the best of " + seen.size() + " runs",
        Figure.number(before.median()),
        outcome.commit(),
        moreIsGood ? "no less than" : "no more than",
        Figure.number(limit));
  }

  private static @Nullable Outcome recordOf(List<Outcome> recorded, Compared compared) {
    return recorded.stream()
        .filter(each -> each.measurement().equals(compared.measurement()))
        .findFirst()
        .orElse(null);
  }
}
