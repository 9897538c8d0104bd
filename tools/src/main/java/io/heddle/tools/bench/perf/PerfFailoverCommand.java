package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Installation;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that measures the stall of a job that loses a plane. */
@Command(
    name = "failover",
    description = {
      "Takes a plane from running all-reduces by several kinds of failure. Measures the longest"
          + " time without completions and the time until throughput is back at its full rate."
          + " Needs root; silent-bfd and withdrawal need BIRD.",
      "Each rank records the completion times of its sends. The usual gap is the longest time"
          + " without a completion of a rank in a second, the median of three seconds before the"
          + " event. The longest gap is the same for the second after it; more than twice the usual"
          + " gap is a stall. Full speed is reached in the first 20 ms after the stall, or else"
          + " after the event, with as much throughput as nine tenths of all 20 ms windows in the"
          + " third second after the event; at least 40 %% and at most 80 %% of the mean there are"
          + " required. The event is the start of the command that causes it."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeList = {"0:Every target was met.", "1:A target was missed, or data was wrong."})
final class PerfFailoverCommand implements Callable<Integer> {
  /** Time in ms for which a round waits for full speed. */
  private static final int LONGEST_WAIT_MS = 3_000;

  @Option(
      names = "--cases",
      paramLabel = "CASE",
      split = ",",
      defaultValue = "carrier,silent,silent-bfd,withdrawal",
      description = "Any of ${COMPLETION-CANDIDATES} (all but nothing, where no plane is taken).")
  private List<FailoverCase> cases = List.of();

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(5);

  @Option(
      names = "--bytes",
      paramLabel = "BYTES",
      defaultValue = "4M",
      converter = ByteSize.class,
      description = "Size of the all-reduces (${DEFAULT-VALUE}).")
  private long bytes;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      defaultValue = "spray",
      description = "Spray policy: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private PolicyName policy = PolicyName.SPRAY;

  @Option(
      names = "--timeline",
      description =
          "Print to standard error, for each round, the ranks' log lines and completions around the"
              + " event.")
  private boolean timeline;

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    int count = rounds.required(options.range());
    requireLab();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ALL_REDUCE, "the driver");
    Contest contest =
        new Contest("perf failover", "a plane is taken from all-reduces", "%1$s%3$s", count)
            .set("ranks", 2)
            .set("bytes", bytes)
            .set("policy", policy);
    cases.forEach(each -> contest.remark(each + ": " + each.text()));
    contest.remark(
        "usual gap: longest time in a second without a completion of a rank; a round that never"
            + " reaches full speed counts with %s ms".formatted(LONGEST_WAIT_MS));
    boolean[] met = {true};
    options.run(
        "failover",
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            RunFolder folder = cleanup.add(new RunFolder());
            FailoverBench bench =
                new FailoverBench(
                    plugin,
                    driver,
                    bytes,
                    policy.toString(),
                    folder.path(),
                    cleanup,
                    timeline ? this::printTimeline : null);
            for (FailoverCase each : cases) {
              into.show("preparing " + each);
              List<Recovery> recoveries =
                  bench.measure(
                      each,
                      count,
                      round -> into.show("%s, round %s of %s".formatted(each, round, count)));
              met[0] &= add(into, each, recoveries);
              into.clear();
              printNow(each, recoveries);
            }
          }
        });
    return met[0] ? 0 : ExitCode.FAILED;
  }

  /** Adds the rounds of a case. Returns whether each of them met the aim. */
  static boolean add(Contest contest, FailoverCase of, List<Recovery> recoveries) {
    int missed = 0;
    for (Recovery each : recoveries) {
      Double fullSpeedMs = each.fullSpeedMs();
      double speedMs = fullSpeedMs == null ? LONGEST_WAIT_MS : fullSpeedMs;
      contest.add(of.toString(), "", ", full speed after", "ms", speedMs);
      contest.add(of.toString(), "", ", longest gap", "ms", each.gapMs());
      contest.add(of.toString(), "", ", usual gap", "ms", each.usualGapMs());
      double times = each.gapMs() / each.usualGapMs();
      contest.add(of.toString(), "", ", longest gap ÷ usual", "", times);
      boolean met =
          of.aimMs() == 0 ? !each.isStall() : fullSpeedMs != null && fullSpeedMs <= of.aimMs();
      missed += met ? 0 : 1;
    }
    String judged = of.aimMs() == 0 ? ", longest gap ÷ usual" : ", full speed after";
    double limit = of.aimMs() == 0 ? Recovery.STALL : of.aimMs();
    contest.bind(of.toString(), "", judged, Bound.atMost(limit));
    if (missed > 0) {
      contest.remark(of + ": " + missed + " of " + recoveries.size() + " rounds missed the aim");
    }
    return missed == 0;
  }

  private void requireLab() {
    PlaneFaults.requirePrograms("the measurement cuts planes");
    Optional<String> refused = Labs.refusal(Lab.Kind.NAMESPACES);
    if (refused.isEmpty() && cases.stream().anyMatch(FailoverCase::onFabric)) {
      refused = Fabric.refusal(false);
    }
    if (refused.isPresent()) {
      throw new HeddleException(
          "failover can't be measured here: "
              + refused.get()
              + "; the measurement cuts links of network namespaces, which needs root");
    }
  }

  private void printTimeline(String text) {
    PrintWriter err = options.line().getErr();
    err.print(text);
    err.flush();
  }

  /* Prints the rounds as soon as their case is measured, so that an interrupted run keeps them. */
  private void printNow(FailoverCase of, List<Recovery> recoveries) {
    if (!options.isJson()) {
      PrintWriter out = options.line().getOut();
      recoveries.forEach(each ->
          out.printf(
              Locale.ROOT,
              "%s: full speed after %s ms, longest gap %.1f ms, usual gap %.1f ms%n",
              of,
              each.fullSpeedMs() == null
                  ? "more than " + LONGEST_WAIT_MS
                  : Figure.number(each.fullSpeedMs()),
              each.gapMs(),
              each.usualGapMs()));
      out.flush();
    }
  }
}
