package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.SentByPlane;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import io.heddle.tools.lab.TemporaryFabric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Measurement of failover. In each round it makes a plane fail while all-reduces run, and evaluates
 * the ranks' completions.
 */
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
  private static final double NANO = 1e-9;

  /** Seconds for which the ranks warm up. */
  private static final double WARM_SECONDS = 1.5;

  /** Seconds for which the ranks are observed before the event, and again after it. */
  private static final int OBSERVED_SECONDS = 3;

  private final Path plugin;
  private final Path driver;
  private final long bytes;
  private final String policy;
  private final Path folder;
  private final Cleanup cleanup;
  private final @Nullable Consumer<String> timelines;
  private int runs;

  /**
   * Network of a case, in which a plane can be made to fail.
   *
   * @param loss prepares the failure of a plane, and returns the action that causes it. On direct
   *     links the action takes only milliseconds, since its program is already running.
   * @param restore makes the plane work again
   */
  private record Bench(Lab lab, IntFunction<Runnable> loss, IntConsumer restore) {}

  /**
   * Creates the measurement.
   *
   * @param policy value of HEDDLE_POLICY for the ranks
   * @param timelines consumer of each round's timeline; null for none
   */
  FailoverBench(
      Path plugin,
      Path driver,
      long bytes,
      String policy,
      Path folder,
      Cleanup cleanup,
      @Nullable Consumer<String> timelines) {
    this.timelines = timelines;
    this.plugin = plugin;
    this.driver = driver;
    this.bytes = bytes;
    this.policy = policy;
    this.folder = folder;
    this.cleanup = cleanup;
  }

  /**
   * Measures one case.
   *
   * @param onRound called with the number of each round, from 1, before it starts
   */
  List<Recovery> measure(FailoverCase of, int rounds, IntConsumer onRound)
      throws IOException, InterruptedException {
    try (Cleanup own = new Cleanup()) {
      Bench bench = of.onFabric() ? fabric(of, own) : links(of, own);
      List<Recovery> recoveries = new ArrayList<>();
      for (int round = 1; round <= rounds; round++) {
        onRound.accept(round);
        int plane = round % PLANES;
        recoveries.add(round(bench, plane));
        bench.restore().accept(plane);
      }
      return recoveries;
    }
  }

  private Recovery round(Bench bench, int plane) throws IOException, InterruptedException {
    AllReducePlan plan = plan();
    AllReduceRun ranks = cleanup.add(new AllReduceRun(bench.lab(), plan));
    Round round = new Round(bench, plane, plan);
    ranks.run(result -> {}, round::poll);
    ranks.close();
    if (ranks.wrong() > 0) {
      throw new HeddleException(ranks.wrong() + " wrong elements; logs are in " + plan.folder());
    }
    List<Completions> done = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      done.add(Completions.read(plan.completions(rank)));
    }
    Recovery recovery = Recovery.of(done, round.event, OBSERVED_SECONDS);
    if (timelines != null) {
      timelines.accept(FailoverTimeline.of(plan, RANKS, round.event, round.over, done));
    }
    return recovery;
  }

  /**
   * One run of the ranks. It is polled only ten times a second, since more polls would take
   * processor time from the ranks.
   */
  private static final class Round {
    private final Bench bench;
    private final int plane;
    private final AllReducePlan plan;
    private double first;
    private @Nullable Runnable ready;
    double event;
    double over;

    Round(Bench bench, int plane, AllReducePlan plan) {
      this.bench = bench;
      this.plane = plane;
      this.plan = plan;
    }

    void poll() {
      double now = System.nanoTime() * NANO;
      Runnable loss = ready;
      if (first <= 0) {
        first = isRunning() ? now : 0;
      } else if (loss == null && now - first >= WARM_SECONDS) {
        ready = bench.loss().apply(plane);
      } else if (loss != null && event <= 0 && now - first >= WARM_SECONDS + OBSERVED_SECONDS) {
        event = System.nanoTime() * NANO;
        loss.run();
        over = System.nanoTime() * NANO;
      } else if (event > 0 && now - event > OBSERVED_SECONDS) {
        Objects.requireNonNull(plan.watched()).end();
      }
    }

    private boolean isRunning() {
      try {
        return SentByPlane.acknowledged(plan.folder(), PLANES).stream().anyMatch(sent -> sent > 0);
      } catch (IOException | HeddleException notWholeYet) {
        return false;
      }
    }
  }

  private AllReducePlan plan() throws IOException {
    Path own = Files.createDirectory(folder.resolve("run-" + ++runs));
    return new AllReducePlan(
        driver,
        plugin,
        own,
        new AllReducePlan.Sizes(bytes, bytes, 1, TIMEOUT_SECONDS),
        1,
        Map.of("HEDDLE_STATS_DIR", own.toString(), "HEDDLE_POLICY", policy),
        new AllReducePlan.Watched(
            own.resolve("enough"),
            timelines == null
                ? AllReducePlan.Records.COMPLETIONS
                : AllReducePlan.Records.COMPLETIONS_AND_TRACES));
  }

  private static Bench links(FailoverCase of, Cleanup own) {
    Lab lab = own.add(Labs.create(Lab.Kind.NAMESPACES, new LabPlan(RANKS, PLANES, MTU_BYTES)));
    PlaneFaults faults = new PlaneFaults(lab);
    return new Bench(
        lab,
        plane ->
            switch (of) {
              case CARRIER -> faults.prepareCarrierCut(0, plane);
              case NOTHING -> () -> {};
              case SILENT, SILENT_BFD, WITHDRAWAL -> faults.prepareSilentCut(0, plane);
            },
        plane -> faults.restore(0, plane));
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
    Path logs = Files.createDirectory(folder.resolve(of.toString()));
    TemporaryFabric made = TemporaryFabric.up('w', plan, logs, own);
    Fabric fabric = made.fabric();
    made.speakers().awaitRoutes();
    return new Bench(
        made.lab(),
        plane ->
            separate
                ? () -> fabric.setReachable(plane + 1, RANKS, false)
                : () -> fabric.cut(plane + 1, fabric.leafOf(1), true),
        plane -> {
          if (separate) {
            fabric.setReachable(plane + 1, RANKS, true);
          } else {
            fabric.restore(plane + 1);
          }
          made.speakers().awaitRoutes();
        });
  }
}
