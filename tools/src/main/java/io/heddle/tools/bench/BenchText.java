package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.TextTable;
import java.util.List;
import java.util.Locale;

/** Formatter of a report as a text table. */
final class BenchText {
  private BenchText() {}

  static String of(BenchReport report) {
    StringBuilder text = new StringBuilder();
    List<Outcome> outcomes = report.measurements();
    if (!outcomes.isEmpty()) {
      line(text, "# %s", outcomes.getFirst().machine().text());
    }
    for (Outcome each : outcomes) {
      line(
          text,
          "# %-16s %5.0f s, %s, commit %s, load %.1f to %.1f%s%s%s",
          each.measurement(),
          each.seconds(),
          each.time(),
          each.commit(),
          each.loadBefore(),
          each.loadAfter(),
          each.quick() ? ", quick" : "",
          each.failure() == null ? "" : ": " + each.verdict() + ", " + firstLine(each.failure()),
          each.laterFailure() == null
              ? ""
              : "; kept, since a later run FAILED, " + firstLine(each.laterFailure()));
    }
    String group = "";
    TextTable table = new TextTable();
    for (Target.Verdict verdict : report.targets()) {
      Target target = verdict.target();
      if (!target.group().equals(group)) {
        group = target.group();
        table.add("#");
        table.add("# " + group, "wanted", "measured", "verdict");
      }
      String name = "  " + target.figure();
      Figure measured = verdict.measured();
      if (measured == null) {
        String reason = "not run: " + firstLine(String.valueOf(verdict.reason()));
        table.add(name, target.wantedText(), "", reason);
      } else {
        String result = verdict.result() == Target.Result.MET ? "met" : "missed";
        table.add(name, target.wantedText(), measured.text(), result);
      }
      if (verdict.limit() != null) {
        table.add("      since " + verdict.limit());
      }
    }
    text.append(table);
    line(text, "# %s", summary(report));
    return text.toString();
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  static String summary(BenchReport report) {
    return count(report, Target.Result.MET)
        + " targets met, "
        + count(report, Target.Result.MISSED)
        + " missed, "
        + count(report, Target.Result.NOT_RUN)
        + " not run"
        + ofEarlierRuns(report);
  }

  private static String ofEarlierRuns(BenchReport report) {
    List<String> kept =
        report.measurements().stream()
            .filter(each -> each.laterFailure() != null)
            .map(Outcome::measurement)
            .toList();
    return kept.isEmpty()
        ? ""
        : "; of earlier runs, since the newest FAILED: " + String.join(", ", kept);
  }

  private static long count(BenchReport report, Target.Result result) {
    return report.targets().stream().filter(each -> each.result() == result).count();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
