package io.heddle.tools.wan.figure;

import io.heddle.cli.kit.Cleanup;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** Figures of a controller process: delay from telemetry to rule, and its cost for a fleet. */
public final class FleetFigures {
  private static final int CAPACITY_MBPS = 100_000;
  private static final double CAPACITY = 1e6 * CAPACITY_MBPS;

  /* Number of warm-up trials, in which most of the controller's code isn't compiled yet. */
  private static final int FIRST_TRIALS = 5;
  private static final int TRIALS = 20;
  private static final double MOST_REACTION_MS = 50;

  private static final int GATEWAYS = 100;
  private static final int LISTS = 4;
  private static final int ELEPHANTS = 100;
  private static final int UNEVEN = 10;
  private static final long SEED = 1;
  private static final int WARM_UP_SECONDS = 30;

  /*
   * Seconds of the measurement. The controller's cycle figure covers its last 256 rounds, which all
   * lie in this time and not in the warm-up.
   */
  private static final int SECONDS = 56;

  /*
   * Least number of records a second that the controller must read. The fleet sends 50,000; the
   * measured period may cut off some at its start and end.
   */
  private static final double LEAST_RECORDS = 49_000;
  private static final double MOST_CORES = 1;
  private static final double MOST_MEGABYTES = 512;
  private static final double MOST_CYCLE_MS = 200;
  private static final double BYTES_PER_KIBIBYTE = 1_024;

  private FleetFigures() {}

  /**
   * Measures the time from the gateway's last sample to the UPDATE that it causes. Each trial has
   * new elephants.
   *
   * @param folder folder for files
   * @param limits starts a time limit of this many seconds; the returned supplier reports whether
   *     it has expired
   * @throws HeddleException if no rule arrives in time
   */
  public static WanFigure reaction(Path folder, IntFunction<BooleanSupplier> limits)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Fleet fleet =
          new Fleet(
              Files.createDirectory(folder.resolve("reaction")),
              1,
              LISTS,
              CAPACITY_MBPS,
              limits,
              cleanup);
      fleet.start();
      Samples samples = new Samples();
      for (int trial = -FIRST_TRIALS; trial < TRIALS; trial++) {
        int first = 2 * (trial + FIRST_TRIALS) + 2;
        fleet.begin(0, first, 0.45 * CAPACITY, 1);
        fleet.begin(0, first + 1, 0.40 * CAPACITY, 1);
        Fleet.ReceivedRule rule = fleet.awaitRule(List.of(first, first + 1));
        if (trial >= 0) {
          samples.addNs(rule.atNs() - fleet.gateway(0).sampleBefore(rule.atNs()));
        }
        fleet.gateway(0).endAll();
        fleet.await(
            "the rule's end",
            () -> {
              int left = fleet.overview().rules().size();
              return left == 0 ? null : left + " rules are in force";
            });
      }
      return WanFigure.atMost(
          "D",
          "telemetry until UPDATE",
          samples.percentileMs(95),
          "ms",
          MOST_REACTION_MS,
          String.format(
              Locale.ROOT,
              "from the last sample before the UPDATE, 95 of 100 of %s rules after the first %s;"
                  + " the median is %.1f ms",
              TRIALS,
              FIRST_TRIALS,
              samples.percentileMs(50)));
    }
  }

  /**
   * Measures a controller of a hundred gateways, which report a hundred elephants each, five times
   * a second. Some gateways are unevenly loaded at first. All gateways follow the controller's
   * rules.
   *
   * @param folder folder for files
   * @param limits starts a time limit of this many seconds; the returned supplier reports whether
   *     it has expired
   * @throws HeddleException if some gateways don't report
   */
  public static List<WanFigure> load(Path folder, IntFunction<BooleanSupplier> limits)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Fleet fleet =
          new Fleet(
              Files.createDirectory(folder.resolve("fleet")),
              GATEWAYS,
              LISTS,
              CAPACITY_MBPS,
              limits,
              cleanup);
      Random random = new Random(SEED);
      for (int gateway = 0; gateway < GATEWAYS; gateway++) {
        for (int i = 0; i < ELEPHANTS; i++) {
          int list = gateway < UNEVEN && i % 2 == 0 ? 1 : 1 + i % LISTS;
          double rate = (0.5 + random.nextDouble()) * 2 * CAPACITY / ELEPHANTS;
          fleet.begin(gateway, 2 + gateway * ELEPHANTS + i, rate, list);
        }
      }
      fleet.start();
      TimeUnit.SECONDS.sleep(WARM_UP_SECONDS);
      return measured(fleet);
    }
  }

  private static List<WanFigure> measured(Fleet fleet) throws IOException, InterruptedException {
    ProcessHandle controller = fleet.controller();
    ControllerStatus.Overview before = fleet.overview();
    double busyBefore = busySeconds(controller);
    long begin = System.nanoTime();
    TimeUnit.SECONDS.sleep(SECONDS);
    ControllerStatus.Overview after = fleet.overview();
    double busy = busySeconds(controller) - busyBefore;
    double seconds = (System.nanoTime() - begin) / 1e9;
    String of =
        String.format(
            Locale.ROOT,
            "%s simulated gateways of %s elephants, every %s ms, for %.0f s",
            GATEWAYS,
            ELEPHANTS,
            Fleet.INTERVAL_MS,
            seconds);
    return List.of(
        WanFigure.atLeast(
            "G",
            "records that a controller takes",
            (after.work().records() - before.work().records()) / seconds,
            "a second",
            LEAST_RECORDS,
            of),
        WanFigure.atMost(
            "G", "processor of that controller", busy / seconds, "cores", MOST_CORES, of),
        WanFigure.atMost(
            "G",
            "memory of that controller",
            residentMegabytes(controller),
            "MB",
            MOST_MEGABYTES,
            "the maximum resident memory, with " + String.join(" ", Fleet.JAVA)),
        WanFigure.atMost(
            "G",
            "cycle of that controller",
            after.work().slowRoundMs(),
            "ms",
            MOST_CYCLE_MS,
            "99 of 100 of the last 256 rounds, of %s; %s rules are in force"
                .formatted(after.work().rounds(), after.rules().size())));
  }

  private static double busySeconds(ProcessHandle process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
  }

  private static double residentMegabytes(ProcessHandle process) throws IOException {
    return Files.readAllLines(Path.of("/proc", String.valueOf(process.pid()), "status")).stream()
            .filter(line -> line.startsWith("VmHWM:"))
            .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")))
            .findFirst()
            .orElse(0)
        * BYTES_PER_KIBIBYTE
        / 1e6;
  }
}
