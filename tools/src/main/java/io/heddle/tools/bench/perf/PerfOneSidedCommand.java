package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares two transfers: puts with signals over NCCL's one-sided table, and messages
 * over its net interface.
 */
@Command(
    name = "one-sided",
    description =
        "Measures puts with signals over NCCL's one-sided table beside messages over its net"
            + " interface: latency of 8 B, bandwidth of 1 MiB, and all to all among many ranks, 8"
            + " KiB each.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nPuts and messages run the same plugin in separate processes and alternate. All ranks"
            + " share this machine's processors.")
final class PerfOneSidedCommand implements Callable<Integer> {
  private static final int MOST_RANKS = 64;
  private static final String MESSAGES = "messages";

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(7);

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description = "Number of ranks of all to all (${DEFAULT-VALUE}).")
  private int ranks = 16;

  @Option(names = "--planes", paramLabel = "N", description = "Planes (${DEFAULT-VALUE}).")
  private int planes = 4;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /**
   * Test case.
   *
   * @param name value of the driver's option {@code --test}
   * @param iterations number of iterations of a round
   */
  private record Test(String name, long bytes, int ranks, int iterations, String unit) {
    @Override
    public String toString() {
      return name;
    }
  }

  /** Ranks that transfer in one of the two ways. */
  private record Transfer(String name, DriverRanks ranks) implements Contestant<Test> {
    private static final long QUIET_SECONDS = 120;

    static Transfer start(Lab lab, String name, Test test, Path driver, Path plugin, int rounds)
        throws IOException {
      List<String> options =
          List.of(
              "--over=" + name,
              "--test=" + test,
              "--ranks=" + test.ranks(),
              "--bytes=" + test.bytes(),
              "--iterations=" + test.iterations(),
              "--rounds=" + rounds,
              "--timeout-seconds=" + QUIET_SECONDS,
              "--turns");
      Map<String, String> environment = Map.of("HEDDLE_ONE_SIDED", "1");
      String title = test + " by " + name;
      return new Transfer(
          name,
          new DriverRanks(
              title, lab, test.ranks(), driver, plugin, options, environment, () -> {}));
    }

    @Override
    public void awaitWarm() throws InterruptedException {
      ranks.event(0, QUIET_SECONDS, "warm");
    }

    @Override
    public void measure(Test test, Round round) throws InterruptedException {
      ranks.sendLine("go");
      double value = ranks.event(0, QUIET_SECONDS, "measured").path("value").asDouble();
      round.add(test.name(), "", test.unit(), value);
    }

    @Override
    public void awaitEnd() throws InterruptedException {
      ranks.event(0, QUIET_SECONDS, "end");
      ranks.awaitEnd();
    }

    @Override
    public void close() throws IOException {
      ranks.close();
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = rounds.required(range);
    range.require("--ranks", ranks, 2, MOST_RANKS);
    range.require("--planes", planes, 1, LabPlan.MAX_PLANES);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ONE_SIDED_PERF, "the program of the ranks");
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest(
                "perf one-sided",
                "puts with signals beside messages of the net interface",
                "%1$s of %2$s%3$s",
                count)
            .set("planes", planes);
    List<Test> tests =
        List.of(
            new Test("latency", 8, 2, 4_000, "us"),
            new Test("bandwidth", 1 << 20, 2, 400, "MB/s"),
            new Test("all-to-all", 8 << 10, ranks, 20, "messages/s"));
    return options.run(
        hosts,
        choice,
        "one-sided",
        contest,
        into -> {
          for (Test test : tests) {
            into.set(test + "_bytes", test.bytes()).set(test + "_ranks", test.ranks());
            measure(into, count, choice, test, driver, plugin);
          }
          into.compare(Contest.Ratio.OF_ROUNDS, "", MESSAGES, " ÷ " + MESSAGES);
        });
  }

  /* Measures one test. The first round isn't counted, since Java compiles in it. */
  private void measure(
      Contest contest, int count, Labs.Choice choice, Test test, Path driver, Path plugin)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(test.ranks(), planes, 9000)));
      List<Transfer> transfers = new ArrayList<>();
      for (String name : List.of("puts", MESSAGES)) {
        transfers.add(cleanup.add(Transfer.start(lab, name, test, driver, plugin, count + 1)));
      }
      contest.awaitWarm(transfers);
      contest.measure(List.of(test), 1, transfers);
      contest.awaitEnd(transfers);
    }
  }
}
