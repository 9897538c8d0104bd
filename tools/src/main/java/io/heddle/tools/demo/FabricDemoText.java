package io.heddle.tools.demo;

import io.heddle.tools.demo.FabricDemoReport.Change;
import io.heddle.tools.demo.FabricDemoReport.Job;
import io.heddle.tools.demo.FabricDemoReport.SpineShare;
import io.heddle.tools.demo.FabricDemoReport.Window;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.lab.FabricPlan;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formatter of the fabric demo's tables. */
final class FabricDemoText {
  private FabricDemoText() {}

  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  static String heading(FabricPlan plan, String source) {
    return format(
        "# heddle demo: %d ranks on 2 leaves, %d spines; links of %s Gbit/s\n# weights: %s",
        plan.hosts(),
        plan.spines(),
        plan.ratesBitsPerSecond().stream()
            .map(rate -> format("%s", rate / 1e9))
            .collect(Collectors.joining(", ")),
        source);
  }

  static String jobHeading(String policy) {
    return "#\n# policy " + policy + "\n" + AllReduceResult.HEAD.stripTrailing();
  }

  static String spines(Job job) {
    StringBuilder text = new StringBuilder();
    text.append(
        format(
            "# %5s %8s %10s %8s %15s %16s %8s\n",
            "plane",
            "Gbit/s",
            "announced",
            "expected",
            "sent (plugin)",
            "at spine, bytes",
            "share"));
    for (SpineShare spine : job.spines()) {
      Double sent = spine.sentShare();
      text.append(
          format(
              "  %5d %8.3f %10d %7.1f%% %15s %16d %7.1f%%\n",
              spine.plane(),
              spine.rateGbps(),
              spine.announcedGbps(),
              100 * spine.expectedShare(),
              sent == null ? "-" : format("%.1f%%", 100 * sent),
              spine.spineBytes(),
              100 * spine.spineShare()));
    }
    return text.toString().stripTrailing();
  }

  static String ratio(double ratio, long bytes) {
    return format("# all-reduce of %d bytes: hash takes %.2f times as long as spray", bytes, ratio);
  }

  static String change(Change change, double changedGbps) {
    StringBuilder text = new StringBuilder();
    text.append(
        format(
            "#\n"
                + "# during the run plane %d gets %s Gbit/s, and BGP announces %d instead of %d"
                + " Gbit/s\n",
            change.plane(),
            changedGbps,
            change.announcedAfterGbps(),
            change.announcedBeforeGbps()));
    text.append(format("# %9s  %-34s %-34s %9s\n", "second", "expected, %", "sent, %", "off by"));
    for (Window window : change.windows()) {
      text.append(
          format(
              "  %9.1f  %-34s %-34s %9.1f\n",
              window.fromSeconds(),
              percents(window.expectedShares()),
              percents(window.sentShares()),
              window.deviationPoints()));
    }
    text.append(
        format(
            "# at most %.1f points off in any second except that of the change\n"
                + "# all ranks had the new weights %d ms after the change was begun; ",
            change.steadyDeviationPoints(), change.weightsAfterMs()));
    Double followed = change.followedAfterMs();
    text.append(
        followed == null
            ? "sent shares did not come within 3 points of them"
            : format("sent shares were within 3 points of them from %.0f ms on", followed));
    return text.toString();
  }

  private static String percents(List<Double> shares) {
    return shares.stream()
        .map(share -> format("%5.1f", 100 * share))
        .collect(Collectors.joining(" "));
  }

  static String verdict(FabricDemoReport report) {
    if (report.failure() != null) {
      return "FAILED: " + report.failure();
    }
    return report.wrong() == 0
        ? "PASSED: every byte right under every policy and through the change"
        : "FAILED: " + report.wrong() + " wrong elements";
  }
}
