package io.heddle.cli.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.lab.Lab;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures what a bridge adds to the time that packets take, beside a forwarder in C and the
 * kernel's multicast routing. They take turns, each at a gateway and with a group of its own;
 * nobody else runs meanwhile.
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
   * What to measure.
   *
   * @param rounds of each, at least 1
   * @param idlePackets of a round
   * @param idlePacketsPerSecond packets a second
   * @param loadedPackets of a round under half load, and as fast as possible
   * @param payloadBytes bytes of each
   * @param core that a bridge is to spin on; {@link BridgeConfig#NO_CORE} for no such bridge
   */
  record Plan(
      int rounds,
      int idlePackets,
      double idlePacketsPerSecond,
      int loadedPackets,
      int payloadBytes,
      int core) {}

  /* What was measured of one of them. */
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
   * @param program the command line that is {@code heddle}
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
      Map<Joining, Measured> all = new LinkedHashMap<>();
      for (Joining each : joinings(fabrics, folder, cleanup)) {
        all.put(each, new Measured());
        stream.join(receiver(each), each.group());
      }
      measureCapacity(all, stream, progress);
      double halfRate =
          all.values().stream().mapToDouble(each -> each.capacity).min().orElseThrow() / 2;
      for (int round = 0; round < plan.rounds(); round++) {
        int number = round + 1;
        for (Map.Entry<Joining, Measured> each : all.entrySet()) {
          Joining joining = each.getKey();
          progress.update(() -> joining.name() + ", round " + number + " of " + plan.rounds());
          measure(joining, each.getValue(), stream, halfRate);
        }
      }
      progress.clear();
      return report(all, halfRate);
    }
  }

  private static int receiver(Joining joining) {
    return joining instanceof Joining.Nothing ? NEIGHBOUR : FAR;
  }

  private static Gid group(int number) {
    return new Gid(0, 0xffff_ef01_0200L | number);
  }

  private List<Joining> joinings(TwoFabrics fabrics, Path folder, Cleanup cleanup)
      throws IOException {
    List<Joining> all = new ArrayList<>();
    all.add(new Joining.Nothing(group(1)));
    all.add(cleanup.add(JoiningBridge.start(BRIDGE, group(2), fabrics, 0, program, folder, "")));
    if (plan.core() != BridgeConfig.NO_CORE) {
      String core = " core=" + plan.core();
      all.add(
          cleanup.add(JoiningBridge.start(SPINNING, group(3), fabrics, 1, program, folder, core)));
    }
    all.add(cleanup.add(new Joining.Rival(FORWARDER, "forward", group(4), fabrics, 2)));
    all.add(cleanup.add(new Joining.Rival(KERNEL, "route", group(5), fabrics, 3)));
    return all;
  }

  /* The first streams compile a bridge's code, too. */
  private void measureCapacity(
      Map<Joining, Measured> all, StampedStream stream, ProgressLine progress) {
    all.forEach((joining, measured) -> {
      progress.update(() -> joining.name() + " at most");
      joining.begin();
      int unmeasured = joining instanceof JoiningBridge ? WARM_UP : 0;
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
      joining.end();
    });
  }

  private void measure(Joining joining, Measured measured, StampedStream stream, double halfRate) {
    joining.begin();
    /* What was asleep or stopped wakes up. */
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
    joining.end();
    measured.idle.add(idle.latenciesNs());
    measured.half.add(half.latenciesNs());
    measured.lostIdle += idle.lost();
    measured.lostHalf += half.lost();
  }

  private LatencyReport report(Map<Joining, Measured> all, double halfRate) {
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

  /* Of each turn, and then the median of all turns: another program that gets in between spoils one. */
  private static double microseconds(List<long[]> turns, double part) {
    double[] each = turns.stream().mapToDouble(turn -> microseconds(turn, part)).sorted().toArray();
    return (each[(each.length - 1) / 2] + each[each.length / 2]) / 2;
  }

  /* Not a number where nothing came. */
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
