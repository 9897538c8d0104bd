package io.heddle.tools;

import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.FabricSpeakers;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Takes a plane from running all-reduces, round by round, and looks at what they carry. */
final class FailoverBench {
  static final int PLANES = 4;
  private static final int RANKS = 2;
  private static final int MTU_BYTES = 9_000;
  private static final long RATE = 1_000_000_000L;
  private static final int GBPS = 100;
  private static final int QUEUE_MS = 20;
  private static final int HOLD_SECONDS = 9;
  private static final int BFD_MS = 50;
  private static final int TIMEOUT_SECONDS = 60;
  private static final int PROBE_ITERATIONS = 40;
  private static final int MOST_ITERATIONS = 1_000_000;
  private static final long SAMPLE_MS = 2;

  /** The first moments belong to the ranks' warm-up. */
  private static final double WARM_SECONDS = 1.5;

  /** As long before the event as after it. */
  private static final double LOOK_SECONDS = 3;

  /** Warm code is faster than the probe's; a run must not end before its last moment. */
  private static final double MARGIN = 1.6;

  private final Path plugin;
  private final Path driver;
  private final long bytes;
  private final Path folder;
  private final Cleanup cleanup;
  private int runs;

  /** The network of a case. */
  private interface Bench {
    Lab lab();

    void take(int plane);

    void giveBack(int plane) throws InterruptedException;
  }

  FailoverBench(Path plugin, Path driver, long bytes, Path folder, Cleanup cleanup) {
    this.plugin = plugin;
    this.driver = driver;
    this.bytes = bytes;
    this.folder = folder;
    this.cleanup = cleanup;
  }

  /**
   * Measures one case.
   *
   * @param onRound hears of each round's number, from 1, before it
   */
  List<Recovery> measure(FailoverCase of, int rounds, java.util.function.IntConsumer onRound)
      throws IOException, InterruptedException {
    try (Cleanup own = new Cleanup()) {
      Bench bench = of.onFabric() ? fabric(of, own) : links(of, own);
      double secondsEach = secondsEach(bench.lab());
      List<Recovery> recoveries = new ArrayList<>();
      for (int round = 1; round <= rounds; round++) {
        onRound.accept(round);
        int plane = round % PLANES;
        recoveries.add(round(bench, plane, secondsEach));
        bench.giveBack(plane);
      }
      return recoveries;
    }
  }

  private Recovery round(Bench bench, int plane, double secondsEach)
      throws IOException, InterruptedException {
    double event = WARM_SECONDS + LOOK_SECONDS;
    double whole = event + LOOK_SECONDS;
    int times = (int) Math.clamp(Math.round(MARGIN * whole / secondsEach), 10, MOST_ITERATIONS);
    AllReducePlan plan = plan(times);
    AllReduceRun ranks = cleanup.add(new AllReduceRun(bench.lab(), plan));
    ShareWatch watch =
        new ShareWatch(
            () -> SentByPlane.acknowledged(plan.folder(), PLANES),
            List.of(new ShareWatch.Change(event, () -> bench.take(plane))),
            SAMPLE_MS);
    try (watch) {
      ranks.run(result -> {}, () -> {});
    }
    ranks.close();
    if (ranks.wrong() > 0) {
      throw new HeddleException(ranks.wrong() + " wrong elements; see " + plan.folder());
    }
    return Recovery.of(watch.samples(), watch.changedAt(), LOOK_SECONDS);
  }

  private double secondsEach(Lab lab) throws IOException, InterruptedException {
    AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan(PROBE_ITERATIONS)));
    double seconds = run.run(result -> {}, () -> {}).getLast().timeUs() / 1e6;
    run.close();
    return seconds;
  }

  private AllReducePlan plan(int times) throws IOException {
    Path own = Files.createDirectory(folder.resolve("run-" + ++runs));
    return new AllReducePlan(
        driver,
        plugin,
        own,
        bytes,
        bytes,
        times,
        1,
        TIMEOUT_SECONDS,
        Map.of("HEDDLE_STATS_DIR", own.toString(), "HEDDLE_POLICY", "spray"));
  }

  private static Bench links(FailoverCase of, Cleanup own) {
    Lab lab = own.add(Labs.create(Lab.Kind.NAMESPACES, new LabPlan(RANKS, PLANES, MTU_BYTES)));
    PlaneFaults faults = new PlaneFaults(lab);
    return new Bench() {
      @Override
      public Lab lab() {
        return lab;
      }

      @Override
      public void take(int plane) {
        if (of == FailoverCase.CARRIER) {
          faults.cutCarrier(0, plane);
        } else {
          faults.cutSilently(0, plane);
        }
      }

      @Override
      public void giveBack(int plane) {
        faults.restore(0, plane);
      }
    };
  }

  private Bench fabric(FailoverCase of, Cleanup own) throws IOException {
    boolean separate = of == FailoverCase.WITHDRAWAL;
    FabricPlan plan =
        new FabricPlan(
            separate ? FabricShape.PLANES : FabricShape.LEAF_SPINE,
            separate ? 0 : PLANES,
            1,
            separate ? PLANES : RANKS,
            RANKS,
            Collections.nCopies(PLANES, RATE),
            Collections.nCopies(PLANES, GBPS),
            MTU_BYTES,
            QUEUE_MS,
            HOLD_SECONDS,
            BFD_MS,
            false);
    Path told = Files.createDirectory(folder.resolve(of.toString()));
    OwnFabric made = OwnFabric.up('w', plan, told, own);
    Fabric fabric = made.fabric();
    FabricSpeakers speakers = made.speakers();
    speakers.awaitRoutes();
    return new Bench() {
      @Override
      public Lab lab() {
        return made.lab();
      }

      @Override
      public void take(int plane) {
        if (separate) {
          fabric.setReachable(plane + 1, RANKS, false);
        } else {
          fabric.cut(plane + 1, fabric.leafOf(1), true);
        }
      }

      @Override
      public void giveBack(int plane) {
        if (separate) {
          fabric.setReachable(plane + 1, RANKS, true);
        } else {
          fabric.restore(plane + 1);
        }
        speakers.awaitRoutes();
      }
    };
  }
}
