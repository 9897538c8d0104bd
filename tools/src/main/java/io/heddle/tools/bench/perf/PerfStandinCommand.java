package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.job.SizesOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.StandinLab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that measures all-reduces through the libibverbs provider. A stand-in for libibverbs
 * replaces RDMA hardware.
 */
@Command(
    name = "standin",
    description =
        "Measures all-reduce times of the plugin through the libibverbs provider, on a stand-in for"
            + " libibverbs: over several devices, over one device with several addresses, and over"
            + " one device with one address.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    defaultValueProvider = PerfStandinCommand.Defaults.class,
    footer = "%nThe setups alternate, round by round. Wrong data ends the run.")
final class PerfStandinCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final Map<String, String> USUAL_SIZES =
      Map.of("--min-bytes", "1K", "--max-bytes", "16M", "--iterations", "10");
  private static final long TIMEOUT_SECONDS = 120;
  private static final int MOST_GBPS = 10_000;

  @Option(
      names = "--rate",
      paramLabel = "GBPS",
      description =
          "Rate of each device in each direction, Gbit/s; 0 for as fast as this machine copies"
              + " (${DEFAULT-VALUE}).")
  private double rate = 2;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(3);
  @CommandLine.Mixin private final SizesOption sizes = new SizesOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /**
   * Default values of the size options. They select fewer sizes than other commands do, since four
   * setups are measured.
   */
  static final class Defaults implements CommandLine.IDefaultValueProvider {
    @Override
    public @Nullable String defaultValue(CommandLine.Model.ArgSpec argument) {
      return argument instanceof CommandLine.Model.OptionSpec option
          ? USUAL_SIZES.get(option.longestName())
          : null;
    }
  }

  /** Contestant: a number of devices per host, and a number of addresses per device. */
  private record Setup(String name, int devices, int addresses) {}

  private static final List<Setup> SETUPS =
      List.of(
          new Setup("4 devices", 4, 1),
          new Setup("8 devices", 8, 1),
          new Setup("1 device with 4 addresses", 1, 4),
          new Setup("1 device", 1, 1));

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = rounds.required(range);
    if (!(rate >= 0 && rate <= MOST_GBPS)) {
      throw LabCommand.usage(options.line(), "--rate " + rate + " is not in 0 to " + MOST_GBPS);
    }
    sizes.require(range);
    StandinLab.Parts parts =
        new StandinLab.Parts(
            Installation.requirePart(Installation.STANDIN, "the stand-in for libibverbs"),
            Installation.requirePart(Installation.STANDIN_CONTROL, "its control program"));
    Path driver = Installation.requirePart(Installation.ALL_REDUCE, "the program of the ranks");
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Labs.Choice choice = hosts.chooseNamespaces("planes of verbs devices need interfaces");
    Contest contest =
        new Contest(
                "perf standin", "all-reduces over devices of the stand-in", "%1$s, %2$s%3$s", count)
            .set("ranks", RANKS)
            .set("rate_gbps", rate);
    return options.run(
        hosts,
        choice,
        "standin-allreduce",
        contest,
        into -> {
          into.measure(
              List.of(""),
              0,
              SETUPS.stream()
                  .map(each ->
                      new AllReduceContestant(
                          each.name(),
                          () -> run(choice.kind(), each, parts, driver, plugin, into::showAgain)))
                  .toList());
          String one = SETUPS.getLast().name();
          into.compare(Contest.Ratio.OF_ROUNDS_INVERSE, "", one, ", one device's time ÷ its");
        });
  }

  private List<AllReduceResult> run(
      Lab.Kind kind, Setup setup, StandinLab.Parts parts, Path driver, Path plugin, Runnable onIdle)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      Path meeting = folder.path().resolve("fabric");
      Map<String, String> settings =
          rate > 0 ? Map.of("STANDIN_RATE_GBPS", String.format(Locale.ROOT, "%s", rate)) : Map.of();
      Lab lab =
          cleanup.add(
              StandinLab.create(
                  kind, RANKS, setup.devices(), setup.addresses(), parts, meeting, settings));
      AllReducePlan plan =
          new AllReducePlan(
              driver,
              plugin,
              folder.path(),
              sizes.within(TIMEOUT_SECONDS),
              setup.devices(),
              Map.of("HEDDLE_STATS_DIR", folder.path().toString()),
              null);
      AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan));
      return run.measure(setup.name(), folder, onIdle);
    }
  }
}
