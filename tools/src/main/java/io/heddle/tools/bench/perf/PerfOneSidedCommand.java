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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "7",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "16",
      description = "Number of ranks of all to all (${DEFAULT-VALUE}).")
  private int ranks;

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  private final ProgressLine progress = ProgressLine.onStandardError();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--ranks", ranks, 2, MOST_RANKS);
    range.require("--planes", planes, 1, LabPlan.MAX_PLANES);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ONE_SIDED_PERF, "the program of the ranks");
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    double load = HostLoad.ofLastMinute();
    List<OneSidedReport.Row> rows = new ArrayList<>();
    for (OneSidedContestant.Test test :
        List.of(
            new OneSidedContestant.Test("latency", 8, 2, 4_000, "us"),
            new OneSidedContestant.Test("bandwidth", 1 << 20, 2, 400, "MB/s"),
            new OneSidedContestant.Test("all-to-all", 8 << 10, ranks, 20, "messages/s"))) {
      rows.add(measure(choice, test, driver, plugin));
    }
    progress.clear();
    OneSidedReport report =
        new OneSidedReport(
            choice.kind().text(),
            AllReduceReport.processorCount(),
            planes,
            rounds,
            List.of(load, HostLoad.ofLastMinute()),
            rows);
    form.publish(spec, "one-sided-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  /*
   * Measures one test by both transfers. The first round isn't counted, since Java compiles in it.
   */
  private OneSidedReport.Row measure(
      Labs.Choice choice, OneSidedContestant.Test test, Path driver, Path plugin)
      throws IOException, InterruptedException {
    List<Double> puts = new ArrayList<>();
    List<Double> messages = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(test.ranks(), planes, 9000)));
      List<OneSidedContestant> contestants = new ArrayList<>();
      for (String transfer : List.of("puts", "messages")) {
        progress.update(() -> "heddle perf one-sided: %s by %s".formatted(test.name(), transfer));
        OneSidedContestant contestant =
            cleanup.add(new OneSidedContestant(lab, transfer, test, driver, plugin, rounds + 1));
        contestant.awaitWarm();
        contestants.add(contestant);
      }
      for (int round = 0; round <= rounds; round++) {
        int shown = round;
        progress.update(() ->
            "heddle perf one-sided: %s, round %s of %s".formatted(test.name(), shown, rounds));
        double put = contestants.getFirst().measure();
        double message = contestants.getLast().measure();
        if (round > 0) {
          puts.add(put);
          messages.add(message);
          ratios.add(put / message);
        }
      }
      for (OneSidedContestant each : contestants) {
        each.awaitEnd();
      }
    }
    return new OneSidedReport.Row(
        test.name(), test.bytes(), test.ranks(), test.unit(), puts, messages, ratios);
  }
}
