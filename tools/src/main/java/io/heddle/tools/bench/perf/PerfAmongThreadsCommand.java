package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
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
  private static final int HANG_SECONDS = 60;
  private static final int MOST_RANKS = 8;
  private static final int MOST_CHANNELS = 16;
  private static final int FLOAT_BYTES = 4;
  private static final long MOST_BYTES = 64L << 20;

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
      description = "Number of ranks, up to 8 (${DEFAULT-VALUE}).")
  private int ranks = 2;

  @Option(
      names = "--algorithm",
      paramLabel = "HOW",
      defaultValue = "RING",
      description =
          "Topology: ${COMPLETION-CANDIDATES}, in upper or lower case (${DEFAULT-VALUE}).")
  private Algorithm algorithm = Algorithm.RING;

  @Option(
      names = "--channels",
      paramLabel = "N",
      description = "Concurrent rings or trees, each with its own connections (${DEFAULT-VALUE}).")
  private int channels = 2;

  @Option(
      names = "--turns",
      paramLabel = "N",
      description = "All-reduces in a turn (${DEFAULT-VALUE}).")
  private int turns = 20;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Turns of each contestant at each size (${DEFAULT-VALUE}).")
  private int rounds = 9;

  @Option(
      names = "--spins",
      paramLabel = "N",
      description =
          "Empty polls after which the kernels' thread yields its core; 0 for never"
              + " (${DEFAULT-VALUE}).")
  private int spins = 200;

  @Option(
      names = "--threads",
      description = "Also report the run time of each thread of a rank, by the kernel's accounts.")
  private boolean accounts;

  @CommandLine.Mixin private final ContestantsOption links = new ContestantsOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /** Topology of the all-reduce. */
  enum Algorithm {
    RING,
    TREE
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
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
    List<ContestantsOption.Entry> entries = links.entries(range);
    Path driver = links.driver(Installation.AMONG_THREADS);
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest(
                "perf among-threads", "all-reduce among NCCL's threads", "%1$s, %2$s%3$s", rounds)
            .set("algorithm", word())
            .set("ranks", ranks)
            .set("channels", channels)
            .set("spins", spins)
            .set("turns", turns);
    return options.run(
        hosts,
        choice,
        "among-threads" + links.fileSuffix(),
        contest,
        into -> measure(into, choice.kind(), entries, driver));
  }

  private String word() {
    return algorithm.name().toLowerCase(Locale.ROOT);
  }

  private void measure(
      Contest contest, Lab.Kind kind, List<ContestantsOption.Entry> entries, Path driver)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      ContestantsOption.Links at = links.links(kind, ranks, cleanup);
      List<AmongThreadsContestant> all = new ArrayList<>();
      for (ContestantsOption.Entry each : entries) {
        all.add(
            cleanup.add(
                new AmongThreadsContestant(
                    at.of(each),
                    each.role(),
                    ranks,
                    turns,
                    driver,
                    each.plugin(),
                    driverOptions(),
                    links.environment(each, kind),
                    contest::showAgain)));
        contest.awaitWarm(List.of(all.getLast()));
      }
      contest.measure(List.of(sizes), 0, all);
      String rival = all.getLast().name();
      String over = ", our time ÷ TCP's";
      contest.compare(Contest.Ratio.OF_ROUNDS, "", rival, over);
      contest.compare(
          Contest.Ratio.OF_BEST_QUARTERS, "", rival, over + PerfPluginCommand.BEST_QUARTERS);
      all.forEach(each -> each.addAccounts(contest, rounds));
      contest.awaitEnd(all);
    }
  }

  private List<String> driverOptions() {
    long largest = Arrays.stream(sizes).mapToLong(Long::longValue).max().orElse(MOST_BYTES);
    List<String> all =
        new ArrayList<>(
            List.of(
                "--ranks=" + ranks,
                "--algorithm=" + word(),
                "--channels=" + channels,
                "--spins=" + spins,
                "--max-bytes=" + largest,
                "--turns=" + turns,
                "--timeout-seconds=" + HANG_SECONDS,
                "--orders"));
    if (accounts) {
      all.add("--threads");
    }
    return all;
  }
}
