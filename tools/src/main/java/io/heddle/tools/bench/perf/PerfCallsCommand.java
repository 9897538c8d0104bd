package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares the plugin's calls with the same steps in C. The plugin runs on a device of
 * the stand-in for libibverbs, which completes each post at once, so that only the calls cost time.
 */
@Command(
    name = "calls",
    description =
        "Measures isend, irecv and test in ns, beside the same steps written in C, on a stand-in"
            + " for libibverbs whose posts complete at once. Also reports percentiles, pauses and"
            + " bytes allocated.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nJava runs twice: with both compilers, the default on four or more processors, and with"
            + " the first one alone, the default on fewer. Contestants alternate.")
final class PerfCallsCommand implements Callable<Integer> {
  private static final int MOST_WARM_UP_ROUNDS = 10;
  private static final long TURN_MS = 1_000;

  /**
   * Length in ms of the turn of the contestant in C during the soak, in which every call is timed.
   * A Java contestant's turn is longer, since the percentiles of Java's calls need more messages.
   */
  private static final long SHORT_TURN_MS = 200;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "21",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "30",
      description =
          "Time for which the calls of each Java contestant are timed for percentiles, seconds"
              + " (${DEFAULT-VALUE}).")
  private int seconds;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--seconds", seconds, 1, 86_400);
    Path driver = Installation.requirePart(Installation.CALL_COST, "the driver");
    Path own = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path reference = Installation.requirePart(Installation.VERBS_PLUGIN, "the plugin in C");
    Path library = Installation.requirePart(Installation.STANDIN, "the stand-in for libibverbs");
    Labs.Choice choice = hosts.chooseNamespaces("planes of verbs devices need interfaces");
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab =
          cleanup.add(Labs.create(choice.kind(), new LabPlan(1, CallCostReport.PLANES, 9000)));
      Map<String, String> environment = environment(library);
      List<CallCostContestant> all = new ArrayList<>();
      all.add(
          cleanup.add(
              new CallCostContestant(
                  lab, "C", List.of(driver.toString(), reference.toString()), environment, null)));
      for (JavaCompilers compilers : List.of(JavaCompilers.BOTH, JavaCompilers.FIRST)) {
        all.add(
            cleanup.add(
                new CallCostContestant(
                    lab,
                    compilers == JavaCompilers.BOTH ? "Java" : "Java, first compiler",
                    List.of(driver.toString(), own.toString()),
                    environment,
                    List.of(compilers.option()))));
      }
      CallCostReport report = measure(all);
      form.publish(spec, "calls-" + ReportOption.today(), report.table(), report);
    }
    return 0;
  }

  private static Map<String, String> environment(Path library) {
    Map<String, String> environment = new HashMap<>();
    environment.put("LD_LIBRARY_PATH", Objects.toString(library.getParent()));
    environment.put("STANDIN_INSTANT", "1");
    environment.put("STANDIN_DEVICES", "1");
    environment.put(
        "STANDIN_GIDS",
        IntStream.range(0, CallCostReport.PLANES)
            .mapToObj(plane -> LabPlan.address(0, plane))
            .collect(Collectors.joining(",")));
    environment.put("HEDDLE_PROVIDER", "libibverbs");
    environment.put("VERBSREF_PLANES", Integer.toString(CallCostReport.PLANES));
    return environment;
  }

  private CallCostReport measure(List<CallCostContestant> all)
      throws IOException, InterruptedException {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    ProgressLine progress = ProgressLine.onStandardError();
    for (CallCostContestant each : all) {
      each.awaitReady();
    }
    int warmUp = Math.min(MOST_WARM_UP_ROUNDS, 2 * rounds);
    for (int round = -warmUp; round < rounds; round++) {
      int now = Math.max(round + 1, 0);
      progress.update(() -> "heddle perf calls: round %s of %s".formatted(now, rounds));
      for (CallCostContestant each : all) {
        each.round(round >= 0);
      }
    }
    /* Unmeasured soak, in which Java compiles the code of the timed loop. */
    for (CallCostContestant each : all) {
      each.soak(TURN_MS);
      each.beginSoaks();
    }
    for (int second = 0; second < seconds; second++) {
      int now = second + 1;
      progress.update(() -> "heddle perf calls: second %s of %s".formatted(now, seconds));
      for (CallCostContestant each : all) {
        each.soak(each.isJava() ? TURN_MS : SHORT_TURN_MS);
      }
    }
    progress.clear();
    List<CallCostReport.Contestant> contestants = new ArrayList<>();
    List<CallCostReport.Verdict> verdicts = new ArrayList<>();
    for (CallCostContestant each : all) {
      CallCostReport.Contestant found =
          CallCostReport.contestant(
              each.name(), each.figures(), all.getFirst().figures(), each.report(), each.machine());
      contestants.add(found);
      if (each.isJava()) {
        verdicts.addAll(CallCostReport.verdicts(found));
      }
    }
    return new CallCostReport(
        "%s, %s processors, Java %s"
            .formatted(
                System.getProperty("os.arch"),
                AllReduceReport.processorCount(),
                System.getProperty("java.version")),
        load,
        rounds,
        seconds,
        contestants,
        verdicts);
  }
}
