package io.heddle.tools.bench;

import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Machine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Command that runs all measurements and compares their figures with targets. */
@Command(
    name = "bench",
    description =
        "Runs every measurement of the project. Prints a verdict for each target and"
            + " records figures and plots in perf-tests/results. Each measurement is a heddle"
            + " command that can be repeated on its own; --list shows it.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "%nEach figure is a median, with minimum and maximum in brackets. Contestants of a ratio"
          + " alternate in one run. A measurement that can't run on this machine is reported as not"
          + " run, with the reason and the remedy; its recorded figures are kept."
    },
    exitCodeList = {
      "0:All measurements ran, even if targets were missed; with --check, no regression.",
      "1:A measurement could not run; with --check, a ratio is worse by a factor of two."
    })
public final class BenchCommand implements Callable<Integer> {
  private static final double NS_PER_SECOND = 1e9;
  private static final double SECONDS_PER_MINUTE = 60;

  /** Seconds kept in reserve for ending a measurement and drawing the plots. */
  private static final int SECONDS_TO_END = 20;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--quick",
      description =
          "Takes a few minutes: fewer sizes and rounds. Records nothing unless --output is given.")
  private boolean quick;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description =
          "Ends after N minutes: measurements without time left are reported as not run. By default"
              + " each has its own limit, and the sum is printed at the start.")
  private @Nullable Integer minutes;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "Run only these measurements. Recorded figures of the others are kept.")
  private List<String> only = List.of();

  @Option(
      names = "--check",
      description =
          "Takes less than a minute: compares ratios with the recorded ones. A ratio that is worse"
              + " by a factor of two in two runs is a regression.")
  private boolean check;

  @Option(names = "--list", description = "List the measurements with their commands, and exit.")
  private boolean list;

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @Option(
      names = "--output",
      paramLabel = "FOLDER",
      description = "Folder for figures and plots (perf-tests/results).")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (minutes != null && minutes < 1) {
      throw usageError("--minutes " + minutes + " is less than 1");
    }
    if (json && (list || check)) {
      throw usageError("--json can't be combined with --list or --check");
    }
    if (list) {
      for (Measurement each : Measurements.all()) {
        out.printf(
            "%-16s %s%n%17s./%s%n", each.name(), each.description(), "", each.command(quick));
      }
      out.flush();
      return 0;
    }
    if (check) {
      return check(out);
    }
    List<Measurement> chosen = chosen();
    Path folder = output != null ? output : quick ? null : Installation.results();
    /*
     * Reads the recorded figures first, so that an unusable folder is reported before measurements
     * that take minutes.
     */
    List<Outcome> before = List.of();
    if (folder != null) {
      Files.createDirectories(folder);
      before = BenchReport.recorded(folder);
    }
    System.err.println("heddle bench: " + forecast(chosen, before));
    List<Outcome> fresh = measure(chosen);
    List<Outcome> all = fresh;
    if (folder != null) {
      List<String> names = List.copyOf(Measurements.byName().keySet());
      all = BenchReport.merged(before, fresh, names);
      record(folder, all);
    }
    BenchReport report = BenchReport.of(all);
    out.print(json ? Json.of(report) + System.lineSeparator() : BenchText.of(report));
    out.flush();
    return fresh.stream().allMatch(each -> each.failure() == null) ? 0 : 1;
  }

  private int check(PrintWriter out) throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    Path folder = output != null ? output : Installation.results();
    RegressionCheck.requireRecorded(folder);
    RegressionCheck.commands().forEach(each -> out.println("# " + each));
    List<String> lines =
        RegressionCheck.run(
            folder, () -> progress.update(() -> "heddle bench: checking for regressions"));
    progress.clear();
    lines.forEach(out::println);
    out.flush();
    return lines.stream().noneMatch(line -> line.startsWith("WORSE")) ? 0 : 1;
  }

  private List<Measurement> chosen() {
    Map<String, Measurement> byName = Measurements.byName();
    List<Measurement> chosen = new ArrayList<>();
    for (String name : only) {
      Measurement named = byName.get(name);
      if (named == null) {
        throw usageError(
            "--only "
                + name
                + ": no such measurement; there are "
                + String.join(", ", byName.keySet()));
      }
      chosen.add(named);
    }
    return chosen.isEmpty() ? List.copyOf(byName.values()) : chosen;
  }

  private ParameterException usageError(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  private List<Outcome> measure(List<Measurement> chosen) throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    String commit = Commit.of(Installation.root());
    Machine machine = Machine.here();
    long start = System.nanoTime();
    List<Outcome> outcomes = new ArrayList<>();
    for (Measurement each : chosen) {
      String state =
          "heddle bench: %s of %s, %s: %s"
              .formatted(outcomes.size() + 1, chosen.size(), each.name(), each.description());
      Outcome outcome =
          run(
              each,
              Math.min(secondsLeft(start), each.limitSeconds()),
              commit,
              machine,
              () -> progress.update(() -> state));
      outcomes.add(outcome);
      progress.clear();
      System.err.printf(
          "heddle bench: %s of %s, %s: %s%n",
          outcomes.size(),
          chosen.size(),
          each.name(),
          outcome.failure() == null
              ? String.format(Locale.ROOT, "measured in %.0f s", outcome.seconds())
              : outcome.verdict() + ": " + outcome.failure());
    }
    return outcomes;
  }

  private long secondsLeft(long start) {
    if (minutes == null) {
      return Long.MAX_VALUE;
    }
    long end = start + TimeUnit.MINUTES.toNanos(minutes);
    return TimeUnit.NANOSECONDS.toSeconds(end - System.nanoTime()) - SECONDS_TO_END;
  }

  /** Returns a text with the recorded duration of the measurements and the sum of their limits. */
  static String forecast(List<Measurement> chosen, List<Outcome> recorded) {
    Map<String, Double> took = new HashMap<>();
    for (Outcome each : recorded) {
      if (each.failure() == null && !each.quick()) {
        took.put(each.measurement(), each.seconds());
      }
    }
    double expected = 0;
    long atMost = 0;
    int unknown = 0;
    for (Measurement each : chosen) {
      Double seconds = took.get(each.name());
      unknown += seconds == null ? 1 : 0;
      expected += seconds == null ? 0 : seconds;
      atMost += each.limitSeconds();
    }
    return String.format(
        Locale.ROOT,
        "%d measurements%s, at most %d minutes by their limits",
        chosen.size(),
        unknown == chosen.size()
            ? ""
            : String.format(
                Locale.ROOT,
                ", %.0f minutes when they were recorded%s",
                Math.max(1, expected / SECONDS_PER_MINUTE),
                unknown == 0 ? "" : " (" + unknown + " never were)"),
        Math.ceilDiv(atMost, (long) SECONDS_PER_MINUTE));
  }

  private Outcome run(
      Measurement each, long limitSeconds, String commit, Machine machine, Runnable onIdle)
      throws IOException, InterruptedException {
    String time = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    long start = System.nanoTime();
    double loadBefore = Machine.loadOfLastMinute();
    List<Figure> figures = List.of();
    @Nullable String obstacle =
        limitSeconds <= 0 ? "no time left of --minutes " + minutes : each.missing().orElse(null);
    @Nullable String failure = obstacle;
    if (obstacle == null) {
      try {
        figures = figures(each, ChildRun.of(each, quick, limitSeconds, onIdle));
      } catch (HeddleException failed) {
        failure = failed.getMessage();
      } catch (RuntimeException unexpected) {
        /* An unreadable report fails this measurement only. */
        failure = "its JSON can't be read: " + unexpected;
      }
    }
    return new Outcome(
        each.name(),
        "./" + each.command(quick) + (each.jsonFile() ? " FILE" : ""),
        quick,
        commit,
        time,
        Math.round((System.nanoTime() - start) / NS_PER_SECOND * 10) / 10.0,
        loadBefore,
        Machine.loadOfLastMinute(),
        machine,
        figures,
        failure,
        obstacle != null,
        null);
  }

  private static List<Figure> figures(Measurement each, ChildRun.Ended ended) {
    List<Figure> own =
        each.reader().read(ended.json()).stream()
            .filter(figure -> Double.isFinite(figure.median()))
            .toList();
    if (own.isEmpty()) {
      throw new HeddleException("its report has no figures");
    }
    return Stream.concat(own.stream(), ended.costs().stream()).toList();
  }

  private static void record(Path folder, List<Outcome> all) throws IOException {
    BenchReport report = BenchReport.of(all);
    Files.writeString(folder.resolve(BenchReport.FILE), Json.of(report) + "\n");
    Files.writeString(folder.resolve("bench.txt"), BenchText.of(report));
    BenchPlots.write(folder, all);
  }
}
