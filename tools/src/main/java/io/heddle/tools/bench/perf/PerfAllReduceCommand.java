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
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
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

  @Option(names = "--ranks", paramLabel = "N", description = "Number of ranks (${DEFAULT-VALUE}).")
  private int ranks = 2;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(3);
  @CommandLine.Mixin private final SizesOption sizes = new SizesOption();
  @CommandLine.Mixin private final ContestantsOption links = new ContestantsOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    range.require("--ranks", ranks, 2, LabPlan.MAX_RANKS);
    int count = rounds.required(range);
    sizes.require(range);
    List<ContestantsOption.Entry> entries = links.entries(range);
    Path program = links.driver(Installation.ALL_REDUCE);
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest("perf allreduce", "all-reduces beside TCP", "%1$s, %2$s%3$s", count)
            .set("ranks", ranks)
            .set("mtu_bytes", links.mtu());
    return options.run(
        hosts,
        choice,
        "allreduce-" + ranks + "-ranks" + links.fileSuffix(),
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            ContestantsOption.Links at = links.links(choice.kind(), ranks, cleanup);
            into.measure(
                List.of("all-reduce "),
                0,
                entries.stream()
                    .map(each ->
                        new AllReduceContestant(
                            each.role(), () -> runOnce(at.of(each), each, program, into)))
                    .toList());
          }
          String rival = entries.getLast().role();
          into.compare(Contest.Ratio.OF_ROUNDS_INVERSE, "", rival, ", TCP's time ÷ ours");
        });
  }

  private List<AllReduceResult> runOnce(
      Lab lab, ContestantsOption.Entry entry, Path program, Contest contest)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      AllReducePlan plan =
          new AllReducePlan(
              program,
              entry.plugin(),
              folder.path(),
              sizes.within(TIMEOUT_SECONDS),
              1,
              links.environment(entry, lab.kind()),
              null);
      AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan));
      List<AllReduceResult> results = run.measure(entry.role(), folder, contest::showAgain);
      contest.set(entry.role(), String.valueOf(run.net()));
      return results;
    }
  }
}
