package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.job.SizesOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares all-reduces of the plugin, over one plane and over several, with a TCP
 * plugin on the same links.
 */
@Command(
    name = "allreduce",
    description =
        "Measures all-reduce times of the plugin over one plane and over all, beside a TCP plugin"
            + " on the same links.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nContestants alternate, round by round. Wrong data ends the run.")
final class PerfAllReduceCommand implements Callable<Integer> {
  private static final int TIMEOUT_SECONDS = 60;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "2",
      description = "Number of ranks (${DEFAULT-VALUE}).")
  private int ranks;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @CommandLine.Mixin private final SizesOption sizes = new SizesOption();
  @CommandLine.Mixin private final ContestantsOption links = new ContestantsOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  /** Result of one run of a contestant. */
  private record Outcome(String name, List<AllReduceResult> results) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--ranks", ranks, 2, LabPlan.MAX_RANKS);
    range.require("--rounds", rounds, 1, 1_000);
    sizes.require(range);
    List<ContestantsOption.Contestant> contestants = links.contestants(range);
    Path program = links.driver(Installation.ALL_REDUCE);
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    return measure(choice, contestants, program);
  }

  private int measure(
      Labs.Choice choice, List<ContestantsOption.Contestant> contestants, Path program)
      throws IOException, InterruptedException {
    List<Map<Long, List<AllReduceResult>>> times = new ArrayList<>();
    contestants.forEach(each -> times.add(new TreeMap<>()));
    String[] names = new String[contestants.size()];
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      ContestantsOption.Links at = links.links(choice.kind(), ranks, cleanup);
      for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < contestants.size(); i++) {
          ContestantsOption.Contestant each = contestants.get(i);
          String state =
              "heddle perf allreduce: round " + round + " of " + rounds + ", " + each.role();
          Outcome outcome = runOnce(at.of(each), each, program, () -> progress.update(() -> state));
          names[i] = outcome.name() + ", " + each.role();
          for (AllReduceResult result : outcome.results()) {
            times.get(i).computeIfAbsent(result.bytes(), bytes -> new ArrayList<>()).add(result);
          }
        }
      }
    }
    progress.clear();
    AllReduceReport report =
        new AllReduceReport(
            choice.kind().text(),
            ranks,
            links.mtu(),
            AllReduceReport.processorCount(),
            List.of(names),
            rounds,
            AllReduceReport.rows(times));
    form.publish(
        spec,
        AllReduceReport.fileName(ReportOption.today(), ranks) + links.fileSuffix(),
        report.table(),
        report);
    return 0;
  }

  private Outcome runOnce(
      Lab lab, ContestantsOption.Contestant contestant, Path program, Runnable onIdle)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      AllReducePlan plan =
          new AllReducePlan(
              program,
              contestant.plugin(),
              folder.path(),
              sizes.within(TIMEOUT_SECONDS),
              1,
              links.environment(contestant, lab.kind()),
              null);
      AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan));
      List<AllReduceResult> results = run.measure(contestant.role(), folder, onIdle);
      return new Outcome(String.valueOf(run.net()), results);
    }
  }
}
