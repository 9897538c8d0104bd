package io.heddle.tools.lab;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.switching.LabSwitches;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that checks the load balancing of a lab's switches. */
@Command(
    name = "check",
    description =
        "Creates a lab of two tiers of four equal links, sends flows of data and protocol packets"
            + " through it, and compares the kernel's counters of every link with the specification"
            + " of each switching mode. Needs root.",
    exitCodeList = {"0:All checks passed.", "1:A check failed."},
    mixinStandardHelpOptions = true)
final class LabCheckCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--switching",
      paramLabel = "MODE",
      split = ",",
      description = "Any of ${COMPLETION-CANDIDATES} (all).")
  private List<SwitchingMode> modes = List.of();

  @Option(
      names = "--polarised",
      description = "Give all switches the same hash; then all tiers must make the same choices.")
  private boolean polarised;

  @CommandLine.Mixin private final ReportOption report = new ReportOption();

  /**
   * JSON document of the command.
   *
   * @param passed whether all checks passed
   */
  record Document(List<SwitchingCheck.Row> rows, boolean passed) {}

  @Override
  public Integer call() throws IOException {
    HashLab.refusal()
        .or(LabSwitches::refusal)
        .ifPresent(why -> {
          throw new LabException("a lab can't be created here: " + why);
        });
    ProgressLine progress = ProgressLine.onStandardError();
    List<SwitchingCheck.Row> rows = new ArrayList<>();
    for (SwitchingMode mode : modes.isEmpty() ? Arrays.asList(SwitchingMode.values()) : modes) {
      progress.update(() -> "heddle lab check: " + mode);
      try (Cleanup cleanup = new Cleanup()) {
        HashLab lab = cleanup.add(HashLab.create(SwitchingCheck.LINKS, SwitchingCheck.LINKS));
        rows.add(
            new SwitchingCheck(lab)
                .check(new FabricSwitching(mode, polarised, SprayScope.GLOBAL, false)));
      }
    }
    progress.clear();
    boolean passed = rows.stream().allMatch(SwitchingCheck.Row::passed);
    report.publish(
        spec, "lab-check-" + ReportOption.today(), text(rows, passed), new Document(rows, passed));
    return passed ? 0 : ExitCode.FAILED;
  }

  static String text(List<SwitchingCheck.Row> rows, boolean passed) {
    StringBuilder text = new StringBuilder();
    text.append(
        "# %-9s %9s %6s %9s %9s %10s %8s %s%n"
            .formatted(
                "switching",
                "hashes",
                "flows",
                "protocol:",
                "data:",
                "uneven by",
                "pairs",
                "failed link"));
    text.append(
        "# %-9s %9s %6s %9s %9s %10s %8s%n"
            .formatted("", "", "", "one link", "all links", "", "of 16"));
    for (SwitchingCheck.Row row : rows) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %-9s %9s %6d %9d %9d %9.1f%% %8d %s%s%n",
              row.mode(),
              row.polarised() ? "the same" : "own",
              row.flows(),
              row.protocolOnOneLink(),
              row.dataOnAllLinks(),
              row.uneven() * 100,
              row.linkPairs(),
              row.avoidsFailedLink() ? "left out" : "USED",
              row.passed() ? "" : "  WRONG"));
    }
    return text.append(passed ? "PASSED\n" : "FAILED\n").toString();
  }
}
