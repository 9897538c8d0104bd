package io.heddle.tools.soak;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.wan.WanDemo;
import io.heddle.tools.wan.WanSoak;
import io.heddle.tools.wan.WanSoakReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import picocli.CommandLine.Option;

/**
 * Option that runs the soak of gateways and their controller instead of the soak of a job's planes.
 */
final class WanSoakOption {
  private static final int PHASE_SECONDS = 16;

  @Option(
      names = "--wan",
      description =
          "Soak gateways and a controller between data centres, as root: random load in phases,"
              + " while daemons are killed and a path is cut. No flow may flap, no daemon's death"
              + " may lose a packet, and no rule may outlive its reason. Of the other options only"
              + " --minutes, --seed and --json apply.")
  boolean wan;

  /** Runs the soak of gateways; returns whether all checks passed. */
  boolean run(PrintWriter out, boolean json, long seed, int minutes)
      throws IOException, InterruptedException {
    AtomicReference<String> phase = new AtomicReference<>("");
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      WanSoakReport report;
      try {
        report =
            WanSoak.run(
                folder.path(),
                new WanSoak.Setting(seed, minutes, 0, PHASE_SECONDS),
                WanDemo.TimeLimits.byClock(),
                next -> {
                  phase.set(next);
                  progress.update(() -> "heddle soak: " + phase.get());
                },
                cleanup);
      } catch (HeddleException failed) {
        progress.clear();
        folder.keep();
        throw failed;
      }
      progress.clear();
      if (!report.passed()) {
        folder.keep();
      }
      if (json) {
        out.println(Json.of(report));
      } else {
        print(out, report);
      }
      out.flush();
      return report.passed();
    }
  }

  private static void print(PrintWriter out, WanSoakReport report) {
    out.printf(
        Locale.ROOT,
        "seed %s: %s phases in %.0f s%n",
        report.seed(),
        report.phases(),
        report.seconds());
    report
        .faults()
        .forEach((fault, times) -> out.printf(Locale.ROOT, "  %-30s %4s times%n", fault, times));
    out.printf(
        Locale.ROOT,
        "  %,d packets sent, %s lost; %s more while a path was cut%n",
        report.sentPackets(),
        report.lostPackets(),
        report.lostInCuts());
    out.printf(
        Locale.ROOT,
        "  %s moves, %s withdrawals, %s flaps%n",
        report.moves(),
        report.withdrawals(),
        report.flaps());
    report.failures().forEach(each -> out.println("FAILED: " + each));
    out.println(report.passed() ? "PASSED" : "FAILED");
  }
}
