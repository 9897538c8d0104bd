package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that measures the plugin's bandwidth and latency over one plane and over all, and
 * compares them with a TCP plugin.
 */
@Command(
    name = "plugin",
    description =
        "Measures bandwidth and latency of the plugin by message size, over one plane and over all,"
            + " beside a TCP plugin on the same links.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nEach contestant runs in two separate processes; contestants alternate, measurement by"
            + " measurement. Wrong data ends the run.")
final class PerfPluginCommand implements Callable<Integer> {
  private static final int RANKS = 2;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--kinds",
      paramLabel = "KIND",
      split = ",",
      defaultValue = "BANDWIDTH,DUPLEX,LATENCY",
      description = "Any of ${COMPLETION-CANDIDATES}, in upper or lower case (all).")
  private List<PluginPerfKind> kinds = List.of();

  @Option(
      names = "--min-bytes",
      paramLabel = "BYTES",
      defaultValue = "8",
      converter = ByteSize.class,
      description = "Smallest message (${DEFAULT-VALUE}).")
  private long minBytes;

  @Option(
      names = "--max-bytes",
      paramLabel = "BYTES",
      defaultValue = "16M",
      converter = ByteSize.class,
      description = "Largest message (${DEFAULT-VALUE}).")
  private long maxBytes;

  @Option(
      names = "--latency-max-bytes",
      paramLabel = "BYTES",
      defaultValue = "64K",
      converter = ByteSize.class,
      description = "Largest message of round trips (${DEFAULT-VALUE}).")
  private long latencyMaxBytes;

  @Option(
      names = "--factor",
      paramLabel = "N",
      defaultValue = "2",
      description = "Factor between successive sizes (${DEFAULT-VALUE}).")
  private int factor;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      defaultValue = "8",
      description = "Messages in flight in bandwidth measurements (${DEFAULT-VALUE}).")
  private int outstanding;

  @Option(
      names = "--flows",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Connections in each direction in bandwidth measurements, for each contestant; one thread"
              + " serves them in turn (${DEFAULT-VALUE}).")
  private int flows;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      defaultValue = "100",
      description = "Duration of a measurement, ms (${DEFAULT-VALUE}).")
  private int milliseconds;

  @Option(names = "--no-pin", description = "Don't pin data threads to processors.")
  private boolean unpinned;

  @Option(
      names = "--compilers",
      paramLabel = "WHICH",
      defaultValue = "AUTO",
      description =
          "Java's compilers: ${COMPLETION-CANDIDATES}, in upper or lower case. AUTO is the plugin's"
              + " default: on fewer than four processors the first alone. With BOTH the rounds of"
              + " the first five seconds don't count (${DEFAULT-VALUE}).")
  private JavaCompilers compilers = JavaCompilers.AUTO;

  @CommandLine.Mixin private final ContestantsOption links = new ContestantsOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--milliseconds", milliseconds, 1, 60_000);
    range.require("--outstanding", outstanding, 1, 32);
    range.require("--flows", flows, 1, 16);
    range.require("--factor", factor, 2, 1_024);
    range.require("--min-bytes", minBytes, 1, 1L << 30);
    range.require("--max-bytes", maxBytes, minBytes, 1L << 30);
    range.require("--latency-max-bytes", latencyMaxBytes, 1, 1L << 30);
    List<ContestantsOption.Contestant> entries = links.contestants(range);
    PluginPerfPlan plan =
        new PluginPerfPlan(
            links.driver(Installation.PLUGIN_PERF),
            kinds.stream().distinct().sorted().toList(),
            minBytes,
            maxBytes,
            latencyMaxBytes,
            factor,
            outstanding,
            flows,
            compilers.settleMs(),
            rounds,
            milliseconds,
            !unpinned);
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    PluginPerfReport report = measure(choice, entries, plan);
    form.publish(
        spec,
        PluginPerfReport.fileName(ReportOption.today(), links.mtu(), flows)
            + links.fileSuffix()
            + compilers.fileSuffix(),
        report.table(),
        report);
    return 0;
  }

  private Map<String, String> environment(ContestantsOption.Contestant contestant, Lab.Kind kind) {
    Map<String, String> environment = links.environment(contestant, kind);
    environment.putAll(compilers.environment(System.getenv(JavaCompilers.VARIABLE)));
    return environment;
  }

  private PluginPerfReport measure(
      Labs.Choice choice, List<ContestantsOption.Contestant> entries, PluginPerfPlan plan)
      throws IOException, InterruptedException {
    List<Map<PluginPerfPlan.Step, Double>> figures = new ArrayList<>();
    List<PluginPerfContestant> contestants = new ArrayList<>();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      ContestantsOption.Links at = links.links(choice.kind(), RANKS, cleanup);
      for (ContestantsOption.Contestant entry : entries) {
        progress.update(() -> "heddle perf plugin: warming up " + entry.role());
        PluginPerfContestant contestant =
            cleanup.add(
                new PluginPerfContestant(
                    at.of(entry),
                    entry.role(),
                    entry.plugin(),
                    plan,
                    environment(entry, choice.kind())));
        contestant.awaitWarm();
        contestants.add(contestant);
        figures.add(new HashMap<>());
      }
      for (PluginPerfPlan.Step step : plan.steps()) {
        progress.update(() ->
            "heddle perf plugin: round %s of %s, %s, %s bytes"
                .formatted(Math.max(step.round(), 0), rounds, step.kind().title(), step.bytes()));
        for (int i = 0; i < contestants.size(); i++) {
          figures.get(i).put(step, contestants.get(i).measure(step));
        }
      }
      for (PluginPerfContestant contestant : contestants) {
        contestant.awaitEnd();
      }
    }
    progress.clear();
    return new PluginPerfReport(
        choice.kind().text(),
        links.mtu(),
        AllReduceReport.processorCount(),
        compilers,
        plan.pinned(),
        outstanding,
        flows,
        milliseconds,
        rounds,
        contestants.stream().map(PluginPerfContestant::entry).toList(),
        PluginPerfReport.sections(plan, figures));
  }
}
