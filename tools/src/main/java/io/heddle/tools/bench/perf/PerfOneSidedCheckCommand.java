package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that checks every byte and every signal of puts between ranks. */
@Command(
    name = "one-sided-check",
    description =
        "Runs random puts with signals, and gets, between all ranks over NCCL's one-sided table,"
            + " for several numbers of ranks and contexts and sizes from 0 B. A thread of each rank"
            + " checks the bytes once their signal has arrived; at the end each signal word must"
            + " have each signal applied exactly once.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nThe first wrong run ends the command, with the rank's last log lines.")
final class PerfOneSidedCheckCommand implements Callable<Integer> {
  private static final int HANG_SECONDS = 120;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--whole",
      description =
          "Run 2, 4 and 8 ranks, each with 1, 4 and 64 contexts, and puts of up to 64 MiB; without"
              + " it, 2 ranks with 4 contexts and puts of up to 64 KiB.")
  private boolean whole;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the random puts (from the clock, and printed).")
  private @Nullable Long seed;

  @Option(names = "--planes", paramLabel = "N", description = "Planes (${DEFAULT-VALUE}).")
  private int planes = 4;

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  /**
   * Parameters of one run.
   *
   * @param ranks number of ranks
   * @param contexts number of contexts of each rank
   * @param operations number of operations from each rank to each rank, itself included, in each
   *     context
   * @param maxBytes size of the largest put in bytes
   */
  record Run(int ranks, int contexts, int operations, long maxBytes) {}

  /**
   * JSON document of the command.
   *
   * @param seed seed with which {@code --seed} repeats the runs
   * @param planes number of planes of each host
   * @param runs runs that were made, all of them correct
   */
  record Document(long seed, int planes, List<Run> runs) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    new OptionRange(spec).require("--planes", planes, 1, LabPlan.MAX_PLANES);
    if (seed != null && seed < 0) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          "--seed " + seed + " is negative; seeds are whole numbers from 0");
    }
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ONE_SIDED, "the program of the ranks");
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    long first = seed == null ? System.nanoTime() & 0xffff_ffffL : seed;
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    print(out, "# heddle perf one-sided-check: seed %d, hosts are %s", first, choice.kind().text());
    print(out, "# %5s %9s %11s %10s", "ranks", "contexts", "operations", "max bytes");
    ProgressLine progress = ProgressLine.onStandardError();
    List<Run> runs = whole ? all() : List.of(new Run(2, 4, 60, 1 << 16));
    for (Run run : runs) {
      progress.update(() ->
          "heddle perf one-sided-check: %s ranks, %s contexts, puts to %s B"
              .formatted(run.ranks(), run.contexts(), run.maxBytes()));
      runJob(choice, run, first, driver, plugin);
      progress.clear();
      print(
          out,
          "  %5d %9d %11d %10d  right",
          run.ranks(),
          run.contexts(),
          run.operations(),
          run.maxBytes());
    }
    if (json) {
      out.println(Json.of(new Document(first, planes, runs)));
    }
    out.flush();
    return 0;
  }

  private void print(PrintWriter out, String format, Object... arguments) {
    if (!json) {
      out.println(String.format(Locale.ROOT, format, arguments));
      out.flush();
    }
  }

  /*
   * Returns the runs of {@code --whole}. For each pair of ranks and each context the driver
   * allocates eight times the largest put, so runs with many contexts have smaller puts.
   */
  private static List<Run> all() {
    List<Run> runs = new ArrayList<>();
    for (int ranks : List.of(2, 4, 8)) {
      runs.add(new Run(ranks, 1, 100, 1 << 20));
      runs.add(new Run(ranks, 4, 40, 1 << 17));
      runs.add(new Run(ranks, 64, 10, 1 << 12));
    }
    runs.add(new Run(2, 1, 12, 64 << 20));
    return runs;
  }

  private void runJob(Labs.Choice choice, Run run, long first, Path driver, Path plugin)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(run.ranks(), planes, 9000)));
      List<String> options =
          List.of(
              "--ranks=" + run.ranks(),
              "--contexts=" + run.contexts(),
              "--operations=" + run.operations(),
              "--max-bytes=" + run.maxBytes(),
              "--seed=" + first,
              "--timeout-seconds=" + HANG_SECONDS);
      Map<String, String> environment = Map.of("HEDDLE_ONE_SIDED", "1");
      String title = "seed %s, %s".formatted(first, run);
      DriverRanks ranks =
          cleanup.add(
              new DriverRanks(
                  title, lab, run.ranks(), driver, plugin, options, environment, () -> {}));
      ranks.awaitEnd();
    }
  }
}
