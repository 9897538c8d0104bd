package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Results;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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
  static final String BEST_QUARTERS = ", best quarters";
  private static final int RANKS = 2;

  @Option(
      names = "--kinds",
      paramLabel = "KIND",
      split = ",",
      defaultValue = "BANDWIDTH,DUPLEX,LATENCY",
      description = "Any of ${COMPLETION-CANDIDATES}, in upper or lower case (all).")
  private List<PluginKind> kinds = List.of();

  @Option(
      names = "--min-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "Smallest message (${DEFAULT-VALUE}).")
  private long minBytes = 8;

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
      description = "Factor between successive sizes (${DEFAULT-VALUE}).")
  private int factor = 2;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      description = "Messages in flight in bandwidth measurements (${DEFAULT-VALUE}).")
  private int outstanding = 8;

  @Option(
      names = "--flows",
      paramLabel = "N",
      description =
          "Connections in each direction in bandwidth measurements, for each contestant; one thread"
              + " serves them in turn (${DEFAULT-VALUE}).")
  private int flows = 1;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(3);

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      description = "Duration of a measurement, ms (${DEFAULT-VALUE}).")
  private int milliseconds = 100;

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
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = rounds.required(range);
    range.require("--milliseconds", milliseconds, 1, 60_000);
    range.require("--outstanding", outstanding, 1, 32);
    range.require("--flows", flows, 1, 16);
    range.require("--factor", factor, 2, 1_024);
    range.require("--min-bytes", minBytes, 1, 1L << 30);
    range.require("--max-bytes", maxBytes, minBytes, 1L << 30);
    range.require("--latency-max-bytes", latencyMaxBytes, 1, 1L << 30);
    List<ContestantsOption.Entry> entries = links.entries(range);
    PluginPlan plan =
        new PluginPlan(
            links.driver(Installation.PLUGIN_PERF),
            kinds.stream().distinct().sorted().toList(),
            minBytes,
            maxBytes,
            latencyMaxBytes,
            factor,
            outstanding,
            flows,
            compilers.settleMs(),
            count,
            milliseconds,
            !unpinned);
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest("perf plugin", "net plugin, 2 ranks", "%1$s, %2$s%3$s", count)
            .set("mtu_bytes", links.mtu())
            .set("compilers", compilers)
            .set("pinned", !unpinned)
            .set("outstanding", outstanding)
            .set("flows", flows)
            .set("milliseconds", milliseconds);
    String file =
        "plugin-mtu-"
            + links.mtu()
            + (flows == 1 ? "" : "-flows-" + flows)
            + links.fileSuffix()
            + compilers.fileSuffix();
    return options.run(
        hosts, choice, file, contest, into -> measure(into, choice.kind(), entries, plan));
  }

  private void measure(
      Contest contest, Lab.Kind kind, List<ContestantsOption.Entry> entries, PluginPlan plan)
      throws IOException, InterruptedException {
    List<PluginContestant> all = new ArrayList<>();
    try (Cleanup cleanup = new Cleanup()) {
      ContestantsOption.Links at = links.links(kind, RANKS, cleanup);
      for (ContestantsOption.Entry entry : entries) {
        Map<String, String> environment = links.environment(entry, kind);
        environment.putAll(compilers.environment(System.getenv(JavaCompilers.VARIABLE)));
        all.add(
            cleanup.add(
                new PluginContestant(
                    at.of(entry), entry.role(), entry.plugin(), plan, environment)));
        contest.awaitWarm(List.of(all.getLast()));
      }
      contest.measure(plan.steps(), plan.uncountedRounds(), all);
      compare(contest, all.getFirst().name(), all.getLast().name(), links.overRival());
      all.forEach(each -> each.addCosts(contest));
      contest.awaitEnd(all);
    }
    contest.add(
        Figure.of(
            "busiest thread of 1 plane and of its rival, the less busy",
            "%",
            contest.series("").stream()
                .filter(each -> each.step().equals(PluginContestant.BUSIEST_THREAD))
                .filter(each ->
                    each.contestant().equals(all.getFirst().name())
                        || each.contestant().equals(all.getLast().name()))
                .mapToDouble(each -> each.rounds().getFirst())
                .min()
                .orElse(Double.NaN)));
  }

  /** Compares all contestants with the rival, and with the plugin over one plane. */
  static void compare(Contest contest, String one, String rival, String over) {
    contest.compare(Contest.Ratio.OF_ROUNDS, "", rival, over);
    contest.compare(Contest.Ratio.OF_BEST_QUARTERS, "", rival, over + BEST_QUARTERS);
    for (Results.Series each : contest.series("")) {
      List<Double> reference = contest.values(each.step(), one, "");
      if (!each.contestant().equals(one) && !each.contestant().equals(rival)) {
        String overOne = " ÷ " + one;
        contest.compare(Contest.Ratio.OF_ROUNDS, each, reference, overOne);
        contest.compare(Contest.Ratio.OF_BEST_QUARTERS, each, reference, overOne + BEST_QUARTERS);
      }
    }
  }
}
