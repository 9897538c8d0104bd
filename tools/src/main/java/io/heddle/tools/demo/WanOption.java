package io.heddle.tools.demo;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.wan.WanDemo;
import io.heddle.tools.wan.WanReport;
import io.heddle.tools.wan.figure.WanFigure;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import picocli.CommandLine.Option;

/** Option that runs the demo of gateways and their controller instead of an all-reduce. */
final class WanOption {
  @Option(
      names = "--wan",
      description =
          "Run two gateways with three paths between them and a controller, as root: queue pairs"
              + " collide by their hash, and the controller separates them. GoBGP is the route"
              + " reflector if installed. Of the other options only --whole and --json apply.")
  boolean wan;

  @Option(
      names = "--whole",
      description =
          "With --wan: include steps that take minutes, such as the gain of two saturated lists and"
              + " a controller of a hundred gateways.")
  boolean whole;

  /** Runs the demo; returns the exit code. */
  int run(PrintWriter out, boolean json) throws IOException, InterruptedException {
    AtomicReference<String> step = new AtomicReference<>("namespaces and daemons");
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      WanReport report = show(folder, step, progress, cleanup);
      progress.clear();
      if (json) {
        out.println(Json.of(report));
      } else {
        print(out, report);
      }
      out.flush();
      return report.passed() ? 0 : ExitCode.FAILED;
    }
  }

  /* Runs the demo and returns its report. Keeps its configurations and logs if it fails. */
  private WanReport show(
      RunFolder folder, AtomicReference<String> step, ProgressLine progress, Cleanup cleanup)
      throws IOException, InterruptedException {
    try {
      WanReport report =
          WanDemo.run(
              folder.path(),
              WanDemo.TimeLimits.byClock(),
              new WanDemo.Setting(
                  WanDemo.canReflect(), whole ? WanDemo.Extent.WHOLE : WanDemo.Extent.USUAL),
              next -> {
                step.set(next);
                progress.update(() -> "heddle demo: " + step.get());
              },
              cleanup);
      if (!report.passed()) {
        folder.keep();
      }
      return report;
    } catch (HeddleException failed) {
      progress.clear();
      folder.keep();
      throw failed;
    }
  }

  private static void print(PrintWriter out, WanReport report) {
    for (WanReport.Step each : report.steps()) {
      out.printf(
          Locale.ROOT,
          "%-4s %5.1f s  %s%n              %s%n",
          each.passed() ? "ok" : "NOT",
          each.seconds(),
          each.name(),
          each.sentence());
    }
    for (WanFigure each : report.figures()) {
      out.printf(
          Locale.ROOT,
          "%-4s %s  %s: %s%n              %s%n",
          each.passed() ? "ok" : "NOT",
          each.test(),
          each.name(),
          each.text(),
          each.sentence());
    }
    out.println(report.passed() ? "PASSED" : "FAILED");
  }
}
