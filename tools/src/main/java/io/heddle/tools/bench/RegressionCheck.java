package io.heddle.tools.bench;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Regression check, which compares the ratios of a short run with the recorded ones.
 *
 * <p>Contestants alternate in many short rounds, and the best quarter of each one's rounds counts,
 * since other load on the machine makes rounds worse and never better. A ratio that is worse by its
 * factor (usually {@link #TIMES}) is measured again. It is a regression only if the second run
 * confirms it.
 */
final class RegressionCheck {
  /** Factor that exceeds noise and differences between machines. */
  private static final double TIMES = 2;

  /**
   * Factor for the ratio of four planes to one plane. Four planes need more processor time, so
   * other load changes this ratio more.
   */
  private static final double TIMES_BY_PLANES = 3;

  private static final int TURNS = 2;

  /**
   * Figure of a measurement that the check compares.
   *
   * @param good whether large values are good ({@code AT_LEAST}) or small ones ({@code AT_MOST})
   * @param times factor by which a value must be worse than the recorded one to be a regression
   */
  record Compared(String measurement, String figure, Target.Bound good, double times) {}

  private static final List<Compared> COMPARED =
      List.of(
          new Compared(
              Measurements.PLUGIN,
              "bandwidth 2M, 1 plane ÷ TCP, best quarters",
              Target.Bound.AT_LEAST,
              TIMES),
          new Compared(
              Measurements.PLUGIN,
              "bandwidth 2M, 4 planes ÷ 1 plane, best quarters",
              Target.Bound.AT_LEAST,
              TIMES_BY_PLANES),
          new Compared(
              Measurements.SOCKETS,
              "bandwidth 2M, 1 plane ÷ 16 sockets, best quarters",
              Target.Bound.AT_LEAST,
              TIMES),
          new Compared(
              Measurements.LATENCY,
              "latency 8B, 1 plane ÷ TCP, best quarters",
              Target.Bound.AT_MOST,
              TIMES),
          new Compared(
              Measurements.CALLS,
              "Java: isend + irecv + test, times C",
              Target.Bound.AT_MOST,
              TIMES),
          new Compared(
              Measurements.CALLS,
              "Java, first compiler: isend + irecv + test, times C",
              Target.Bound.AT_MOST,
              TIMES),
          new Compared(Measurements.VERBS, "Java: single post ÷ C", Target.Bound.AT_MOST, TIMES),
          new Compared(Measurements.VERBS, "Java: full poll ÷ C", Target.Bound.AT_MOST, TIMES));

  private static final List<Measurement> SHORT =
      List.of(
          shortRun(
              "bandwidth beside kernel TCP",
              "perf plugin --json --kinds bandwidth --min-bytes 2M --max-bytes 2M --rounds 21"
                  + " --milliseconds 60",
              FigureReaders::plugin),
          shortRun(
              "bandwidth beside helper threads and sockets",
              "perf plugin --json --planes 1 --rival-threads 2 --rival-sockets 8 --kinds bandwidth"
                  + " --min-bytes 2M --max-bytes 2M --rounds 21 --milliseconds 60",
              FigureReaders::sockets),
          shortRun(
              "round trips beside kernel TCP",
              "perf plugin --json --planes 1 --kinds latency --min-bytes 8 --max-bytes 8 --rounds"
                  + " 21 --milliseconds 60",
              FigureReaders::plugin),
          shortRun(
              "calls beside the same steps in C",
              "perf calls --json --rounds 3 --seconds 1",
              CostFigures::calls),
          shortRun(
              "posting and polling beside C", "perf verbs --json --rounds 7", CostFigures::verbs));

  private RegressionCheck() {}

  private static Measurement shortRun(
      String what, String command, Measurement.FigureReader reader) {
    List<String> words = List.of(command.split(" "));
    return new Measurement("check", what, words, words, false, 120, reader);
  }

  /** Returns the command lines that the check runs. */
  static List<String> commands() {
    return SHORT.stream().map(each -> "./" + each.command(false)).toList();
  }

  /**
   * Verifies that all compared figures are recorded.
   *
   * @throws HeddleException if a figure isn't recorded, with its name
   */
  static void requireRecorded(Path folder) {
    List<Outcome> recorded = BenchReport.recorded(folder);
    for (Compared each : COMPARED) {
      Outcome outcome = recordOf(recorded, each);
      if (outcome == null || outcome.figure(each.figure()) == null) {
        throw new HeddleException(
            "no '%s' recorded in %s to compare with; run heddle bench --only %s"
                .formatted(each.figure(), folder.resolve(BenchReport.FILE), each.measurement()));
      }
    }
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
    Map<Compared, List<Double>> seen = new LinkedHashMap<>();
    List<Measurement> worse = new ArrayList<>();
    for (int turn = 1; turn <= TURNS; turn++) {
      for (Measurement each : turn == 1 ? SHORT : List.copyOf(worse)) {
        List<Figure> figures =
            each.reader().read(ChildRun.of(each, false, each.limitSeconds(), quietly).json());
        if (addFigures(figures, recorded, seen)) {
          worse.add(each);
        }
      }
    }
    List<String> lines = new ArrayList<>();
    for (Compared compared : COMPARED) {
      lines.add(line(recorded, compared, seen.getOrDefault(compared, List.of())));
    }
    return lines;
  }

  /* Adds a run's figures to seen. Returns whether one of them is worse than recorded. */
  private static boolean addFigures(
      List<Figure> figures, List<Outcome> recorded, Map<Compared, List<Double>> seen) {
    Map<String, Figure> byName = new HashMap<>();
    figures.forEach(each -> byName.put(each.name(), each));
    boolean worse = false;
    for (Compared compared : COMPARED) {
      Figure figure = byName.get(compared.figure());
      if (figure != null) {
        List<Double> turns = seen.computeIfAbsent(compared, key -> new ArrayList<>());
        turns.add(figure.median());
        worse |= line(recorded, compared, turns).startsWith("WORSE");
      }
    }
    return worse;
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
    boolean moreIsGood = compared.good() == Target.Bound.AT_LEAST;
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
    boolean fine = moreIsGood ? best >= limit : best <= limit;
    return String.format(
        Locale.ROOT,
        "%s %s: %s%s, recorded %s at commit %s, %s %s allowed",
        fine ? "fine " : "WORSE",
        compared.figure(),
        Target.number(best),
        seen.size() == 1 ? "" : " in the best of " + seen.size() + " runs",
        Target.number(before.median()),
        outcome.commit(),
        moreIsGood ? "no less than" : "no more than",
        Target.number(limit));
  }

  private static @Nullable Outcome recordOf(List<Outcome> recorded, Compared compared) {
    return recorded.stream()
        .filter(each -> each.measurement().equals(compared.measurement()))
        .findFirst()
        .orElse(null);
  }
}
