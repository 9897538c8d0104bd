package io.heddle.tools.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.tools.lab.Lab;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measurement of the latency that a bridge adds, compared with a forwarder in C and the kernel's
 * multicast routing. Each has its own gateway and group. They run alternately, so that only one
 * carries packets at a time.
 */
final class LatencyBench {
  static final String DIRECT = "one fabric";
  static final String BRIDGE = "bridge";
  static final String SPINNING = "bridge, spinning";
  static final String FORWARDER = "C forwarder";
  static final String KERNEL = "kernel routing";
  static final String IDLE = "idle";
  static final String HALF = "half";

  private static final int MTU = 1500;
  private static final int SENDER = 1;
  private static final int NEIGHBOUR = 2;
  private static final int FAR = 3;
  private static final int TRIES = 3;
  private static final int WARM_UP = 15;
  private static final double MEDIAN = 0.5;
  private static final double P999 = 0.999;
  private static final double NS_PER_US = 1e3;

  /**
   * Parameters of the measurement.
   *
   * @param rounds number of rounds of each connection, at least 1
   * @param idlePackets number of packets of a round under idle load
   * @param idlePacketsPerSecond packets per second of idle load
   * @param loadedPackets number of packets of a round under half load, and of a stream at full
   *     speed
   * @param payloadBytes bytes of each payload
   * @param core processor that a bridge spins on; {@link BridgeConfig#NO_CORE} to leave out the
   *     spinning bridge
   */
  record Plan(
      int rounds,
      int idlePackets,
      double idlePacketsPerSecond,
      int loadedPackets,
      int payloadBytes,
      int core) {}

  /* Samples of one connection, by load. */
  private static final class Measured {
    private final List<long[]> idle = new ArrayList<>();
    private final List<long[]> half = new ArrayList<>();
    private double capacity;
    private long lostIdle;
    private long lostHalf;
  }

  private final Plan plan;
  private final List<String> program;

  /**
   * @param program command line that runs {@code heddle}
   */
  LatencyBench(Plan plan, List<String> program) {
    this.plan = plan;
    this.program = List.copyOf(program);
  }

  LatencyReport run(Lab.Kind kind) throws IOException {
    try (Cleanup cleanup = new Cleanup()) {
      Path folder = Files.createTempDirectory("heddle-latency");
      cleanup.add(() -> delete(folder));
      TwoFabrics fabrics = cleanup.add(TwoFabrics.create(kind, 2, MTU, 4));
      int most = Math.max(plan.idlePackets(), plan.loadedPackets());
      StampedStream stream =
          cleanup.add(
              new StampedStream(
                  fabrics,
                  SENDER,
                  List.of(NEIGHBOUR, FAR),
                  plan.payloadBytes(),
                  most,
                  plan.core()));
      ProgressLine progress = ProgressLine.onStandardError();
      progress.update(() -> "bridges start");
      Map<MeasuredLink, Measured> all = new LinkedHashMap<>();
      for (MeasuredLink each : links(fabrics, folder, cleanup)) {
        all.put(each, new Measured());
        stream.join(receiver(each), each.group());
      }
      measureCapacity(all, stream, progress);
      double halfRate =
          all.values().stream().mapToDouble(each -> each.capacity).min().orElseThrow() / 2;
      for (int round = 0; round < plan.rounds(); round++) {
        int number = round + 1;
        for (Map.Entry<MeasuredLink, Measured> each : all.entrySet()) {
          MeasuredLink joining = each.getKey();
          progress.update(() -> joining.name() + ", round " + number + " of " + plan.rounds());
          measure(joining, each.getValue(), stream, halfRate);
        }
      }
      progress.clear();
      return report(all, halfRate);
    }
  }

  private static int receiver(MeasuredLink joining) {
    return joining instanceof MeasuredLink.NoGateway ? NEIGHBOUR : FAR;
  }

  private static Gid group(int number) {
    return new Gid(0, 0xffff_ef01_0200L | number);
  }

  private List<MeasuredLink> links(TwoFabrics fabrics, Path folder, Cleanup cleanup)
      throws IOException {
    List<MeasuredLink> all = new ArrayList<>();
    all.add(new MeasuredLink.NoGateway(group(1)));
    all.add(cleanup.add(MeasuredBridge.start(BRIDGE, group(2), fabrics, 0, program, folder, "")));
    if (plan.core() != BridgeConfig.NO_CORE) {
      String core = "\ncore = " + plan.core();
      all.add(
          cleanup.add(MeasuredBridge.start(SPINNING, group(3), fabrics, 1, program, folder, core)));
    }
    all.add(cleanup.add(new MeasuredLink.CProgram(FORWARDER, "forward", group(4), fabrics, 2)));
    all.add(cleanup.add(new MeasuredLink.CProgram(KERNEL, "route", group(5), fabrics, 3)));
    return all;
  }

  /*
   * Measures each connection's packets per second at full speed. The streams before the measured
   * ones let a bridge's JIT compiler warm up.
   */
  private void measureCapacity(
      Map<MeasuredLink, Measured> all, StampedStream stream, ProgressLine progress) {
    all.forEach((joining, measured) -> {
      progress.update(() -> joining.name() + " at most");
      joining.start();
      int unmeasured = joining instanceof MeasuredBridge ? WARM_UP : 0;
      for (int i = 0; i < unmeasured; i++) {
        stream.run(receiver(joining), joining.group(), plan.loadedPackets(), 0);
      }
      for (int i = 0; i < TRIES; i++) {
        double rate =
            stream
                .run(receiver(joining), joining.group(), plan.loadedPackets(), 0)
                .packetsPerSecond();
        measured.capacity = Math.max(measured.capacity, rate);
      }
      joining.stop();
    });
  }

  private void measure(
      MeasuredLink joining, Measured measured, StampedStream stream, double halfRate) {
    joining.start();
    /* Unmeasured stream, since the first packets wait for processes that slept. */
    stream.run(
        receiver(joining),
        joining.group(),
        Math.min(100, plan.idlePackets()),
        plan.idlePacketsPerSecond());
    StampedStream.Result idle =
        stream.run(
            receiver(joining), joining.group(), plan.idlePackets(), plan.idlePacketsPerSecond());
    StampedStream.Result half =
        stream.run(receiver(joining), joining.group(), plan.loadedPackets(), halfRate);
    joining.stop();
    measured.idle.add(idle.latenciesNs());
    measured.half.add(half.latenciesNs());
    measured.lostIdle += idle.lost();
    measured.lostHalf += half.lost();
  }

  private LatencyReport report(Map<MeasuredLink, Measured> all, double halfRate) {
    List<LatencyReport.Row> rows = new ArrayList<>();
    Measured direct = all.values().iterator().next();
    for (String load : List.of(IDLE, HALF)) {
      boolean idle = load.equals(IDLE);
      List<long[]> base = idle ? direct.idle : direct.half;
      all.forEach((joining, measured) -> {
        List<long[]> turns = idle ? measured.idle : measured.half;
        rows.add(
            new LatencyReport.Row(
                joining.name(),
                load,
                turns.stream().mapToLong(each -> each.length).sum(),
                idle ? measured.lostIdle : measured.lostHalf,
                microseconds(turns, MEDIAN),
                microseconds(turns, P999),
                microseconds(turns, MEDIAN) - microseconds(base, MEDIAN),
                microseconds(turns, P999) - microseconds(base, P999),
                measured.capacity));
      });
    }
    return new LatencyReport(
        Runtime.getRuntime().availableProcessors(),
        plan.payloadBytes(),
        plan.rounds(),
        plan.idlePacketsPerSecond(),
        halfRate,
        rows);
  }

  /*
   * Returns the median over rounds of each round's quantile, in µs. A disturbance by another
   * program affects only one round's quantile.
   */
  private static double microseconds(List<long[]> turns, double part) {
    double[] each = turns.stream().mapToDouble(turn -> microseconds(turn, part)).sorted().toArray();
    return (each[(each.length - 1) / 2] + each[each.length / 2]) / 2;
  }

  /* Returns a quantile of sorted latencies, in µs; not a number without samples. */
  private static double microseconds(long[] sorted, double part) {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    int rank = (int) Math.ceil(part * sorted.length);
    return sorted[Math.clamp(rank - 1L, 0, sorted.length - 1)] / NS_PER_US;
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.deleteIfExists(folder);
  }
}
