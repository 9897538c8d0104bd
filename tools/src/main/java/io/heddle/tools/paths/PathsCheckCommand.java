package io.heddle.tools.paths;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.cli.paths.PredictionText;
import io.heddle.fabric.model.HashAlgorithm;
import io.heddle.fabric.model.HashModel;
import io.heddle.fabric.model.JenkinsHash;
import io.heddle.fabric.model.LinuxHash;
import io.heddle.fabric.model.SwitchHash;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.HashLab;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Command that checks the commands that measure, fit and pick paths, in a lab whose switches have
 * known hashes.
 */
@Command(
    name = "check",
    description =
        "Creates a lab of two tiers of switches in network namespaces, configures one hash after"
            + " the other, and compares measure, fit, predict and pick with the switches' counters"
            + " of links. Needs root.",
    exitCodeList = {"0:All checks passed.", "1:A check failed."},
    mixinStandardHelpOptions = true)
public final class PathsCheckCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @CommandLine.Mixin private final ReportOption report = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    HashLab.refusal()
        .ifPresent(why -> {
          throw new HeddleException("a lab can't be created here: " + why);
        });
    List<SwitchHash> linear =
        List.of(
            HashModel.ecmp(HashAlgorithm.CRC16CC, 1),
            HashModel.ecmp(HashAlgorithm.CRC32LSB, 1),
            HashModel.ecmp(HashAlgorithm.XOR16, 1));
    List<SwitchHash> others = List.of(new JenkinsHash(1), new LinuxHash(1));
    ProgressLine progress = ProgressLine.onStandardError();
    List<PathsCheck.Row> rows = new ArrayList<>();
    try (Cleanup cleanup = new Cleanup()) {
      HashLab lab = cleanup.add(HashLab.create(2, 2));
      PathsCheck check = new PathsCheck(lab, OwnCommandLine.asStarted());
      for (SwitchHash each : linear) {
        progress.update(() -> "heddle paths check: " + each.text());
        rows.add(check.check(each, true));
      }
      for (SwitchHash each : others) {
        progress.update(() -> "heddle paths check: " + each.text());
        rows.add(check.check(each, false));
      }
    }
    progress.clear();
    boolean passed = rows.stream().allMatch(PathsCheck.Row::passed);
    report.publish(
        spec,
        "paths-check-" + ReportOption.today(),
        text(rows, passed),
        new PathsCheck.Document(rows, passed));
    return passed ? 0 : ExitCode.FAILED;
  }

  static String text(List<PathsCheck.Row> rows, boolean passed) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%-20s %6s %9s %9s %10s  %-10s %s%n"
            .formatted("hash", "ports", "measured", "predicted", "fit", "", "picked"));
    for (PathsCheck.Row row : rows) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-20s %6d %9s %9s %10s  %-10s %d to %d per path, uneven by %d%s%n",
              row.hash(),
              row.ports(),
              PredictionText.percent((double) row.correct() / row.ports()),
              PredictionText.percent((double) row.predicted() / row.ports()),
              row.accuracy() == null ? "none" : PredictionText.percent(row.accuracy()),
              row.fitted() ? "linear" : "refused",
              row.pickedLeast(),
              row.pickedMost(),
              row.pickedUnevenness(),
              row.passed() ? "" : "  WRONG"));
    }
    return text.append(passed ? "PASSED\n" : "FAILED\n").toString();
  }
}
