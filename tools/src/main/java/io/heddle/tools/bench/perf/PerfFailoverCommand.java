package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

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
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--cases",
      paramLabel = "CASE",
      split = ",",
      defaultValue = "carrier,silent,silent-bfd,withdrawal",
      description = "Any of ${COMPLETION-CANDIDATES} (all but nothing, where no plane is taken).")
  private List<FailoverCase> cases = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

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

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (rounds < 1) {
      throw usage("--rounds " + rounds + " is not at least 1");
    }
    requireLab();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ALL_REDUCE, "the driver");
    ProgressLine progress = ProgressLine.onStandardError();
    List<FailoverReport.Row> rows = new ArrayList<>();
    int processors = AllReduceReport.processorCount();
    printNow(FailoverReport.head(processors, bytes, policy.toString(), rounds));
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
              timeline ? this::show : null);
      for (FailoverCase each : cases) {
        progress.update(() -> "heddle perf failover: preparing " + each);
        List<Recovery> recoveries =
            bench.measure(
                each,
                rounds,
                round ->
                    progress.update(() ->
                        "heddle perf failover: %s, round %s of %s".formatted(each, round, rounds)));
        FailoverReport.Row row = FailoverReport.Row.of(each, recoveries);
        rows.add(row);
        progress.clear();
        printNow(row.line());
      }
    }
    FailoverReport report = new FailoverReport(processors, bytes, policy.toString(), rounds, rows);
    form.publishRest(spec, "failover-" + ReportOption.today(), report.table(), report);
    return rows.stream().allMatch(FailoverReport.Row::met) ? 0 : ExitCode.FAILED;
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

  private ParameterException usage(String sentence) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), sentence);
  }

  private void show(String text) {
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    err.print(text);
    err.flush();
  }

  /* Prints a result as soon as its case is measured, so that an interrupted run keeps it. */
  private void printNow(String text) {
    if (!form.isJson()) {
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      out.print(text);
      out.flush();
    }
  }
}
