package io.heddle.cli.bench.perf;

import io.heddle.cli.job.PolicyName;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.cli.lab.Fabric;
import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.Labs;
import io.heddle.cli.lab.PlaneFaults;
import io.heddle.platform.HeddleException;
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

/** How long a job stands still when it loses a plane. */
@Command(
    name = "failover",
    description = {
      "Takes a plane from running all-reduces, in several ways, and measures how long nothing"
          + " completes and when what is carried is back at its full rate. Needs root;"
          + " silent-bfd and withdrawal need BIRD.",
      "Each rank notes when its sends were done. The usual gap is the longest time in a second"
          + " in which a rank had none done, the median of three seconds before the event; the"
          + " longest gap is the same of the second after it. More than twice the usual gap is"
          + " a stall. Full speed is reached with the first 20 ms, behind a stall or from the"
          + " event on, in which as much is done as in nine tenths of all 20 ms of the third"
          + " second after the event, but at least 40 %% of the mean there, and 80 %% at most."
          + " The event is when the command that makes it was told to."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeList = {"0:Every aim was met.", "1:An aim was missed, or a byte was wrong."})
final class PerfFailoverCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--cases",
      paramLabel = "CASE",
      split = ",",
      defaultValue = "carrier,silent,silent-bfd,withdrawal",
      description =
          "Of ${COMPLETION-CANDIDATES}; all but nothing, where no plane is taken, without it.")
  private List<FailoverCase> cases = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "How often each is measured (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--bytes",
      paramLabel = "BYTES",
      defaultValue = "4M",
      converter = ByteSize.class,
      description = "What the all-reduces reduce (${DEFAULT-VALUE}).")
  private long bytes;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      defaultValue = "spray",
      description = "Who carries the next chunk: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private PolicyName policy = PolicyName.SPRAY;

  @Option(
      names = "--timeline",
      description =
          "Show on standard error, for each round, what the ranks logged around the event, and when"
              + " sends were done.")
  private boolean timeline;

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (rounds < 1) {
      throw usage("--rounds " + rounds + " is not at least 1");
    }
    requireWhatItTakes();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.ALL_REDUCE, "the driver");
    ProgressLine progress = ProgressLine.onStandardError();
    List<FailoverReport.Row> rows = new ArrayList<>();
    int processors = AllReduceReport.processorCount();
    tell(FailoverReport.head(processors, bytes, policy.toString(), rounds));
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
        tell(row.line());
      }
    }
    FailoverReport report = new FailoverReport(processors, bytes, policy.toString(), rounds, rows);
    form.publishRest(spec, "failover-" + ReportOption.today(), report.table(), report);
    return rows.stream().allMatch(FailoverReport.Row::met) ? 0 : ExitCode.FAILED;
  }

  private void requireWhatItTakes() {
    PlaneFaults.requirePrograms("this cuts planes");
    Optional<String> refused = Labs.refusal(Lab.Kind.NAMESPACES);
    if (refused.isEmpty() && cases.stream().anyMatch(FailoverCase::onFabric)) {
      refused = Fabric.refusal(false);
    }
    if (refused.isPresent()) {
      throw new HeddleException(
          "this can't be measured here: "
              + refused.get()
              + "; it cuts links of network namespaces, which takes root");
    }
  }

  private ParameterException usage(String sentence) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), sentence);
  }

  private void show(String story) {
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    err.print(story);
    err.flush();
  }

  /* Case by case: who interrupts the rest keeps what was measured. */
  private void tell(String text) {
    if (!form.isJson()) {
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      out.print(text);
      out.flush();
    }
  }
}
