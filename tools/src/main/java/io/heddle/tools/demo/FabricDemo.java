package io.heddle.tools.demo;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.demo.FabricDemoReport.Change;
import io.heddle.tools.demo.FabricDemoReport.Job;
import io.heddle.tools.demo.FabricDemoReport.SpineShare;
import io.heddle.tools.demo.FabricDemoReport.Window;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.job.SentByPlane;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricLab;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.LabUpCommand;
import io.heddle.tools.lab.TemporaryFabric;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Demo on a fabric of real routers whose spines have unequal rates. It runs with weights from BGP,
 * with policy hash, and with a path bandwidth that changes during the run.
 */
final class FabricDemo {
  private static final double GIGA = 1e9;
  private static final String SOURCE =
      "heddle bgp on each host, from the path bandwidths that its leaf announces";

  /**
   * Seconds of the run in which a path bandwidth changes, enough to show the shares before and
   * after.
   */
  private static final double CHANGING_RUN_SECONDS = 10;

  private static final double CHANGE_AT_SECONDS = 4;
  private static final double FOLLOWED_POINTS = 3;
  private static final double FOLLOWED_WINDOW = 0.2;

  /** Programs of the ranks. */
  record Programs(Path plugin, Path driver) {}

  private final Fabric fabric;
  private final FabricLab lab;
  private final Programs programs;
  private final AllReducePlan.Sizes sizes;
  private final Path folder;
  private final Cleanup cleanup;
  private final PrintWriter out;
  private final boolean json;
  private long wrong;

  private FabricDemo(
      Fabric fabric,
      FabricLab lab,
      Programs programs,
      AllReducePlan.Sizes sizes,
      Path folder,
      Cleanup cleanup,
      PrintWriter out,
      boolean json) {
    this.fabric = fabric;
    this.lab = lab;
    this.programs = programs;
    this.sizes = sizes;
    this.folder = folder;
    this.cleanup = cleanup;
    this.out = out;
    this.json = json;
  }

  /**
   * Runs the demo.
   *
   * @return whether all data was correct and all ranks ended cleanly
   */
  static boolean run(
      FabricPlan plan,
      double changedGbps,
      Programs programs,
      AllReducePlan.Sizes sizes,
      PrintWriter out,
      boolean json)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      TemporaryFabric own = TemporaryFabric.up('d', plan, folder.path(), cleanup);
      FabricDemo demo =
          new FabricDemo(
              own.fabric(), own.lab(), programs, sizes, folder.path(), cleanup, out, json);
      FabricDemoReport report = demo.runAll(changedGbps);
      if (!report.passed()) {
        folder.keep();
      }
      return report.passed();
    }
  }

  private FabricDemoReport runAll(double changedGbps) throws IOException, InterruptedException {
    List<Job> jobs = new ArrayList<>();
    Double ratio = null;
    Change change = null;
    String failure = null;
    print(FabricDemoText.heading(fabric.plan(), SOURCE));
    try {
      Job spray = job("spray");
      jobs.add(spray);
      Job hash = job("hash");
      jobs.add(hash);
      ratio = hash.results().getLast().timeUs() / spray.results().getLast().timeUs();
      print(FabricDemoText.ratio(ratio, sizes.maxBytes()));
      change = change(changedGbps);
      print(FabricDemoText.change(change, changedGbps));
    } catch (HeddleException failed) {
      failure = failed.getMessage();
    }
    boolean passed = failure == null && wrong == 0;
    FabricDemoReport report =
        new FabricDemoReport(
            SOURCE, lab.plan().ranks(), jobs, ratio, change, wrong, passed, failure);
    if (json) {
      out.println(Json.of(report));
      out.flush();
    } else {
      print(FabricDemoText.verdict(report));
    }
    return report;
  }

  private AllReduceRun newRun(
      String policy, Path own, AllReducePlan.Sizes of, AllReducePlan.@Nullable Watched watched)
      throws IOException {
    Files.createDirectory(own);
    Map<String, String> environment =
        Map.of("HEDDLE_POLICY", policy, "HEDDLE_STATS_DIR", own.toString());
    return cleanup.add(
        new AllReduceRun(
            lab,
            new AllReducePlan(
                programs.driver(), programs.plugin(), own, of, 1, environment, watched)));
  }

  private List<AllReduceResult> finish(
      AllReduceRun run, Consumer<AllReduceResult> onResult, Runnable onIdle)
      throws InterruptedException {
    List<AllReduceResult> results =
        run.run(
            result -> {
              wrong += result.wrong();
              onResult.accept(result);
            },
            onIdle);
    run.close();
    wrong = Math.max(wrong, run.wrong());
    return results;
  }

  private Job job(String policy) throws IOException, InterruptedException {
    print(FabricDemoText.jobHeading(policy));
    Path own = folder.resolve(policy);
    List<Long> before = fabric.receivedBytesByPlane();
    List<AllReduceResult> results =
        finish(newRun(policy, own, sizes, null), result -> print(result.line()), () -> {});
    List<Long> spines = PlaneShare.difference(before, fabric.receivedBytesByPlane());
    List<Double> sent = ShareSamples.shares(SentByPlane.read(own, plan().planes()));
    List<Double> spineShares = ShareSamples.shares(spines);
    List<Double> expected = expectedShares();
    List<SpineShare> rows = new ArrayList<>();
    for (int plane = 0; plane < plan().planes(); plane++) {
      rows.add(
          new SpineShare(
              plane + 1,
              plan().ratesBitsPerSecond().get(plane) / GIGA,
              plan().bandwidthsGbps().get(plane),
              expected.get(plane),
              sent == null ? null : sent.get(plane),
              spines.get(plane),
              spineShares == null ? 0 : spineShares.get(plane)));
    }
    double deviation =
        ShareSamples.deviationPoints(expected, sent != null ? sent : List.copyOf(expected));
    Job job = new Job(policy, results, rows, deviation);
    print(FabricDemoText.spines(job));
    return job;
  }

  private FabricPlan plan() {
    return fabric.plan();
  }

  private List<Double> expectedShares() {
    double total = plan().bandwidthsGbps().stream().mapToInt(Integer::intValue).sum();
    return plan().bandwidthsGbps().stream().map(each -> each / total).toList();
  }

  private Change change(double changedGbps) throws IOException, InterruptedException {
    Path own = folder.resolve("change");
    AllReducePlan.Watched watched =
        new AllReducePlan.Watched(folder.resolve("changed"), AllReducePlan.Records.NOTHING);
    AllReduceRun run = newRun("spray", own, sizes.withSingleSize(sizes.maxBytes(), 1), watched);
    List<Double> expectedBefore = expectedShares();
    int announcedBefore = plan().bandwidthsGbps().getFirst();
    int announcedAfter = LabUpCommand.announced(changedGbps);
    AtomicLong weightsSinceMs = new AtomicLong();
    AtomicInteger most = new AtomicInteger();
    ShareWatch watch =
        new ShareWatch(
            () -> {
              SentByPlane.OpenTotals open = SentByPlane.open(own, plan().planes());
              /*
               * When the run is over, communicators are closed one after the other. Those that are
               * still open haven't sent all bytes of the run, so their totals are ignored.
               */
              if (open.communicators() < most.get()) {
                return List.of();
              }
              most.set(open.communicators());
              weightsSinceMs.set(open.weightsSinceMs());
              return open.bytes();
            },
            CHANGE_AT_SECONDS,
            () -> fabric.setRate(1, LabUpCommand.bitsPerSecond(changedGbps), announcedAfter));
    try (watch) {
      finish(
          run,
          result -> {},
          watch.endWhenComplete(watched, CHANGING_RUN_SECONDS, sizes.timeoutSeconds()));
    }
    double changedAt = watch.changedAt();
    List<Double> expectedAfter = expectedShares();
    ShareSamples samples = watch.samples();
    List<Window> windows = new ArrayList<>();
    for (double at = -Math.floor(changedAt - samples.first());
        changedAt + at + 1 <= samples.last();
        at++) {
      Window window = window(samples, changedAt, at, at < 0 ? expectedBefore : expectedAfter);
      if (window != null) {
        windows.add(window);
      }
    }
    long weightsAfterMs = weightsSinceMs.get() - watch.changedAtMs();
    if (weightsAfterMs < 0) {
      throw new HeddleException("no rank got new weights after the change of the path bandwidth");
    }
    return new Change(
        1,
        announcedBefore,
        announcedAfter,
        weightsAfterMs,
        followedAfterMs(samples, changedAt, weightsAfterMs, expectedAfter),
        windows);
  }

  private static @Nullable Window window(
      ShareSamples samples, double changedAt, double at, List<Double> expected) {
    List<Double> sent = samples.shares(changedAt + at, changedAt + at + 1);
    return sent == null
        ? null
        : new Window(at, expected, sent, ShareSamples.deviationPoints(expected, sent));
  }

  /*
   * Returns the time in ms from the change until the sent shares matched the new weights; null if
   * they never did. The search starts when all ranks have the new weights. Before, the sent shares
   * may match by chance, or because packets queue at the slower link.
   */
  static @Nullable Double followedAfterMs(
      ShareSamples samples, double changedAt, long weightsAfterMs, List<Double> expected) {
    double weighed = changedAt + weightsAfterMs / 1e3;
    for (double time : samples.times()) {
      if (time >= weighed && time + FOLLOWED_WINDOW <= samples.last()) {
        List<Double> sent = samples.shares(time, time + FOLLOWED_WINDOW);
        if (sent != null && ShareSamples.deviationPoints(expected, sent) <= FOLLOWED_POINTS) {
          return 1_000 * (time - changedAt);
        }
      }
    }
    return null;
  }

  private void print(String text) {
    if (!json) {
      out.println(text);
      out.flush();
    }
  }
}
