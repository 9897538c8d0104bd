package io.heddle.tools.demo;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.SentByPlane;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Demo of a plane failure. It repeats all-reduces of one size while a plane is cut and restored,
 * and records the throughput over time.
 */
final class KillPlaneDemo {
  private static final int RANK = 0;
  private static final double BIN_SECONDS = 0.05;
  /*
   * Seconds for which throughput must stay high to count as recovered. High means at least half of
   * what the remaining planes carried before the cut.
   */
  private static final double STEADY_SECONDS = 0.1;
  private static final double HALF = 0.5;
  private static final int LINE_WIDTH = 100;

  private final Lab lab;
  private final AllReducePlan plan;
  private final KillPlaneOption kill;
  private final PrintWriter out;
  private final boolean json;
  private final Path plot;

  /**
   * Result of the demo.
   *
   * @param plane cut plane, from 1
   * @param cutSeconds time of the cut, in seconds since the first bytes
   * @param returnSeconds time of the restoration, in seconds since the first bytes; null if the
   *     plane stays cut
   * @param beforeMegabytesPerSecond throughput before the cut, MB/s
   * @param cutMegabytesPerSecond throughput while the plane was cut, MB/s
   * @param afterMegabytesPerSecond throughput after the restoration, MB/s; null if the plane stays
   *     cut
   * @param resumedAfterMs time from the cut until the throughput reached half of what the other
   *     planes carried before the cut, ms; null if it never did
   * @param reusedAfterMs time from the restoration until the restored plane carried bytes again,
   *     ms; null if it never did
   * @param plot path of the plot's file
   * @param curve throughput over time
   * @param wrong number of wrong elements
   * @param passed whether all data was correct and the job continued
   * @param failure reason of a failure; null if passed
   */
  record Report(
      int plane,
      double cutSeconds,
      @Nullable Double returnSeconds,
      double beforeMegabytesPerSecond,
      double cutMegabytesPerSecond,
      @Nullable Double afterMegabytesPerSecond,
      @Nullable Double resumedAfterMs,
      @Nullable Double reusedAfterMs,
      String plot,
      ThroughputCurve curve,
      long wrong,
      boolean passed,
      @Nullable String failure) {}

  KillPlaneDemo(
      Lab lab, AllReducePlan plan, KillPlaneOption kill, PrintWriter out, boolean json, Path plot) {
    this.lab = lab;
    this.plan = plan;
    this.kill = kill;
    this.out = out;
    this.json = json;
    this.plot = plot;
  }

  /** Runs the demo; returns whether all data was correct and the ranks ended cleanly. */
  boolean run(Cleanup cleanup) throws IOException, InterruptedException {
    PlaneFaults faults = new PlaneFaults(lab);
    int plane = kill.plane() - 1;
    List<ShareWatch.Change> changes = new ArrayList<>();
    changes.add(new ShareWatch.Change(kill.cutSeconds(), () -> faults.cutCarrier(RANK, plane)));
    if (kill.restoreSeconds() != null) {
      changes.add(new ShareWatch.Change(kill.restoreSeconds(), () -> faults.restore(RANK, plane)));
    }
    Path own = Files.createDirectories(plan.folder().resolve("killed"));
    AllReducePlan.Watched watched =
        new AllReducePlan.Watched(own.resolve("enough"), AllReducePlan.Records.NOTHING);
    AllReduceRun ranks = cleanup.add(new AllReduceRun(lab, untilSeen(own, watched)));
    long wrong = 0;
    String failure = null;
    ShareWatch watch = new ShareWatch(() -> SentByPlane.read(own, lab.plan().planes()), changes);
    Runnable ending = watch.endWhenComplete(watched, kill.seconds(), plan.sizes().timeoutSeconds());
    try (watch) {
      for (AllReduceResult result : ranks.run(result -> {}, ending)) {
        wrong += result.wrong();
      }
    } catch (HeddleException failed) {
      if (!watch.hasChanged()) {
        throw failed;
      }
      failure = failed.getMessage();
    }
    ranks.close();
    Report report = report(watch, Math.max(wrong, ranks.wrong()), failure);
    print(report);
    return report.passed();
  }

  private AllReducePlan untilSeen(Path folder, AllReducePlan.Watched watched) {
    Map<String, String> environment = new LinkedHashMap<>(plan.environment());
    environment.put("HEDDLE_STATS_DIR", folder.toString());
    return new AllReducePlan(
        plan.driver(),
        plan.plugin(),
        folder,
        plan.sizes().withSingleSize(plan.sizes().maxBytes(), 1),
        1,
        environment,
        watched);
  }

  private Report report(ShareWatch watch, long wrong, @Nullable String failure) {
    int planes = lab.plan().planes();
    ShareSamples samples = watch.samples();
    ThroughputCurve curve = ThroughputCurve.of(samples, planes, BIN_SECONDS, kill.seconds());
    double cut = watch.changedAt(0) - samples.first();
    boolean returned = kill.restoreSeconds() != null && failure == null;
    Double back = returned ? Double.valueOf(watch.changedAt(1) - samples.first()) : null;
    double end = kill.seconds();
    /* The first third of the time before the cut is the ranks' warm-up. */
    double before = curve.mean(cut / 3, cut);
    double share = before * (planes - 1) / planes;
    Double wentOn = curve.reachedAfter(cut, HALF * share, STEADY_SECONDS);
    Double used = back == null ? null : curve.usedAfter(back, kill.plane() - 1);
    String written = plot.toString();
    try {
      ThroughputPlot.write(
          plot, "plane " + kill.plane() + " of " + planes + " cut", curve, marks(cut, back));
    } catch (HeddleException cannotDraw) {
      written = "none: " + cannotDraw.getMessage();
    }
    return new Report(
        kill.plane(),
        cut,
        back,
        before,
        curve.mean(cut, back == null ? end : back),
        back == null ? null : Double.valueOf(curve.mean(back, end)),
        wentOn == null ? null : Double.valueOf(1e3 * wentOn),
        used == null ? null : Double.valueOf(1e3 * used),
        written,
        curve,
        wrong,
        failure == null && wrong == 0,
        failure);
  }

  private static List<ThroughputCurve.Mark> marks(double cut, @Nullable Double back) {
    List<ThroughputCurve.Mark> marks = new ArrayList<>();
    marks.add(new ThroughputCurve.Mark(cut, "✂", "cut"));
    if (back != null) {
      marks.add(new ThroughputCurve.Mark(back, "↑", "back"));
    }
    return marks;
  }

  private void print(Report report) {
    if (json) {
      out.println(Json.of(report));
      out.flush();
      return;
    }
    out.println(
        report.curve().sparkline(LINE_WIDTH, marks(report.cutSeconds(), report.returnSeconds())));
    out.print(line("before the cut", report.beforeMegabytesPerSecond(), "", null));
    out.print(
        line(
            "plane " + report.plane() + " cut",
            report.cutMegabytesPerSecond(),
            "others recover after",
            report.resumedAfterMs()));
    if (report.afterMegabytesPerSecond() != null) {
      out.print(
          line(
              "plane restored",
              report.afterMegabytesPerSecond(),
              "in use after",
              report.reusedAfterMs()));
    }
    out.println("plot: " + report.plot());
    out.println(
        report.passed()
            ? "PASSED: every byte right"
            : "FAILED: "
                + (report.failure() == null
                    ? report.wrong() + " wrong elements"
                    : report.failure()));
    out.flush();
  }

  private static String line(String when, double rate, String what, @Nullable Double afterMs) {
    String after =
        afterMs == null ? "" : String.format(Locale.ROOT, "   %s %.0f ms", what, afterMs);
    return String.format(Locale.ROOT, "%-16s %8.0f MB/s%s%n", when, rate, after);
  }
}
