package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that compares all-reduces of the plugin and TCP among threads as NCCL runs them. */
@Command(
    name = "among-threads",
    description =
        "Measures all-reduce times among threads as NCCL runs them around a plugin: one moves data,"
            + " one sets up, and one stands for the GPU's kernels and polls its buffers all the"
            + " time. The threads compete for the cores. Every element is checked.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nAll contestants are started at once and alternate at every size, round by round; waiting"
            + " contestants sleep. Wrong data ends the run.")
final class PerfAmongThreadsCommand implements Callable<Integer> {
  private static final int MOST_RANKS = 8;
  private static final int MOST_CHANNELS = 16;
  private static final int FLOAT_BYTES = 4;
  private static final long MOST_BYTES = 64L << 20;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--sizes",
      paramLabel = "BYTES",
      split = ",",
      defaultValue = "8,1K,8K,64K,1M",
      converter = ByteSize.class,
      description = "Sizes, multiples of 4 up to 64M (${DEFAULT-VALUE}).")
  private Long[] sizes = {};

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "2",
      description = "Number of ranks, up to 8 (${DEFAULT-VALUE}).")
  private int ranks;

  @Option(
      names = "--algorithm",
      paramLabel = "HOW",
      defaultValue = "RING",
      description =
          "Topology: ${COMPLETION-CANDIDATES}, in upper or lower case (${DEFAULT-VALUE}).")
  private AmongThreadsReport.Algorithm algorithm = AmongThreadsReport.Algorithm.RING;

  @Option(
      names = "--channels",
      paramLabel = "N",
      defaultValue = "2",
      description = "Concurrent rings or trees, each with its own connections (${DEFAULT-VALUE}).")
  private int channels;

  @Option(
      names = "--turns",
      paramLabel = "N",
      defaultValue = "20",
      description = "All-reduces in a turn (${DEFAULT-VALUE}).")
  private int turns;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "9",
      description = "Turns of each contestant at each size (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--spins",
      paramLabel = "N",
      defaultValue = "200",
      description =
          "Empty polls after which the kernels' thread yields its core; 0 for never"
              + " (${DEFAULT-VALUE}).")
  private int spins;

  @Option(
      names = "--threads",
      description = "Also report the run time of each thread of a rank, by the kernel's accounts.")
  private boolean accounts;

  @CommandLine.Mixin private final ContestantsOption links = new ContestantsOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    for (long each : sizes) {
      range.require("--sizes", each, FLOAT_BYTES, MOST_BYTES);
      if (each % FLOAT_BYTES != 0) {
        throw range.refusal("--sizes " + each + " is not a multiple of 4, the size of a float");
      }
    }
    range.require("--ranks", ranks, 2, MOST_RANKS);
    range.require("--channels", channels, 1, MOST_CHANNELS);
    range.require("--turns", turns, 1, 100_000);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--spins", spins, 0, 1_000_000_000);
    List<ContestantsOption.Contestant> contestants = links.contestants(range);
    Path driver = links.driver(Installation.AMONG_THREADS);
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    long largest = Arrays.stream(sizes).mapToLong(Long::longValue).max().orElse(MOST_BYTES);
    AmongThreadsPlan plan =
        new AmongThreadsPlan(driver, algorithm, ranks, channels, spins, largest, turns, accounts);
    AmongThreadsReport report = measure(choice, contestants, plan);
    form.publish(
        spec, "among-threads-" + ReportOption.today() + links.fileSuffix(), report.table(), report);
    return 0;
  }

  private AmongThreadsReport measure(
      Labs.Choice choice, List<ContestantsOption.Contestant> contestants, AmongThreadsPlan plan)
      throws IOException, InterruptedException {
    double load = HostLoad.ofLastMinute();
    ProgressLine progress = ProgressLine.onStandardError();
    String[] state = {"starts"};
    Runnable onIdle = () -> progress.update(() -> "heddle perf among-threads: " + state[0]);
    List<AmongThreadsContestant> running = new ArrayList<>();
    List<Map<Long, List<Double>>> figures = new ArrayList<>();
    try (Cleanup cleanup = new Cleanup()) {
      ContestantsOption.Links at = links.links(choice.kind(), ranks, cleanup);
      for (ContestantsOption.Contestant each : contestants) {
        AmongThreadsContestant one =
            cleanup.add(
                new AmongThreadsContestant(
                    at.of(each),
                    each.role(),
                    each.plugin(),
                    plan,
                    links.environment(each, choice.kind()),
                    onIdle));
        one.awaitWarm();
        running.add(one);
        figures.add(new TreeMap<>());
      }
      for (int round = 1; round <= rounds; round++) {
        state[0] = "round " + round + " of " + rounds;
        for (long bytes : sizes) {
          for (int i = 0; i < running.size(); i++) {
            double figure = running.get(i).runTurn(bytes);
            figures.get(i).computeIfAbsent(bytes, size -> new ArrayList<>()).add(figure);
            onIdle.run();
          }
        }
      }
      for (AmongThreadsContestant each : running) {
        each.awaitEnd();
      }
    }
    progress.clear();
    return new AmongThreadsReport(
        choice.kind().text(),
        AllReduceReport.processorCount(),
        load,
        HostLoad.ofLastMinute(),
        algorithm,
        ranks,
        channels,
        spins,
        rounds,
        turns,
        running.stream().map(AmongThreadsContestant::name).toList(),
        AmongThreadsReport.rows(figures, (i, bytes) -> running.get(i).threads(bytes, rounds)));
  }
}
