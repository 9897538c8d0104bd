package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.DeviceCounters;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.FloodPacket;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PacketFlood;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that measures how much bandwidth a job loses to a flood of malformed packets. */
@Command(
    name = "flood",
    description =
        "Measures the bandwidth of a job while a host outside it sends malformed packets of every"
            + " kind to its ranks' port 4791, and without them.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nThe same job runs in both cases, which alternate and take turns at being first. The"
            + " packets are sent in either case, in the calm case to a host outside the job, so"
            + " that the ratio contains their cost for the job but not the cost of sending them."
            + " Wrong data ends the run.")
final class PerfFloodCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final int FLOODER = RANKS;
  private static final int BYSTANDER = RANKS + 1;
  private static final int SECONDS_PER_MINUTE = 60;

  /** Bytes that are transferred in a millisecond at 1 Gbit/s. */
  private static final double BYTES_PER_GBPS_MS = 1e6 / 8;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption();

  @Option(
      names = "--packets",
      paramLabel = "N",
      defaultValue = "1000000",
      description = "Malformed packets per minute, to both ranks in turn (${DEFAULT-VALUE}).")
  private int packetsPerMinute;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "41",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      defaultValue = "200",
      description = "Duration of a measurement, ms (${DEFAULT-VALUE}).")
  private int milliseconds;

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      defaultValue = "9000",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu;

  @Option(names = "--no-pin", description = "Don't pin data threads to processors.")
  private boolean unpinned;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    messages.require(range);
    range.require("--packets", packetsPerMinute, SECONDS_PER_MINUTE, 60_000_000);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--milliseconds", milliseconds, 10, 60_000);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    PluginPerfPlan plan = messages.plan(2 * rounds, milliseconds, !unpinned);
    Labs.Choice choice = hosts.chooseNamespaces("a flood needs a third host");
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    FloodReport report = measure(choice, plan);
    form.publish(spec, "flood-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  /** Samples of the measurements, round by round. */
  private static final class Samples {
    final List<PluginPerfContestant.Sample> calm = new ArrayList<>();
    final List<PluginPerfContestant.Sample> flooded = new ArrayList<>();
    long sent;
  }

  private FloodReport measure(Labs.Choice choice, PluginPerfPlan plan)
      throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    double loadBefore = HostLoad.ofLastMinute();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Samples taken = new Samples();
    Map<String, Long> before;
    Map<String, Long> after;
    try (Cleanup cleanup = new Cleanup()) {
      Path statistics = cleanup.add(new RunFolder()).path();
      progress.update(() -> "heddle perf flood: warming up");
      Lab lab =
          cleanup.add(Labs.create(choice.kind(), new LabPlan(RANKS + 2, messages.planes(), mtu)));
      cleanup.add(new PacketFlood.Bystander(lab, BYSTANDER));
      PacketFlood toJob = cleanup.add(new PacketFlood(lab, FLOODER, 0, 1));
      PacketFlood elsewhere = cleanup.add(new PacketFlood(lab, FLOODER, BYSTANDER));
      PluginPerfContestant job =
          cleanup.add(
              new PluginPerfContestant(
                  lab,
                  "flooded",
                  plugin,
                  plan,
                  /*
                   * Makes packets ECN-capable, so that the device checks them for congestion marks.
                   */
                  Map.of(
                      "HEDDLE_PROVIDER",
                      "soft",
                      "HEDDLE_STATS_DIR",
                      statistics.toString(),
                      "NCCL_IB_TC",
                      "2")));
      job.awaitWarm();
      before = DeviceCounters.read(statistics);
      List<PluginPerfPlan.Step> steps = plan.steps();
      for (int turn = 0; turn < steps.size(); turn++) {
        int round = turn / 2;
        boolean flooded = turn % 2 == round % 2;
        progress.update(() ->
            "heddle perf flood: round %s of %s, %s"
                .formatted(round + 1, rounds, flooded ? "with packets" : "without"));
        if (flooded) {
          taken.sent += measure(job, steps.get(turn), toJob, taken.flooded);
        } else {
          measure(job, steps.get(turn), elsewhere, taken.calm);
        }
      }
      after = DeviceCounters.read(statistics);
      job.awaitEnd();
    }
    progress.clear();
    return new FloodReport(
        choice.kind().text(),
        messages.planes(),
        mtu,
        messages.bytes(),
        messages.outstanding(),
        milliseconds,
        rounds,
        packetsPerMinute,
        List.of(loadBefore, HostLoad.ofLastMinute()),
        goodput(taken.calm),
        goodput(taken.flooded),
        ratios(goodput(taken.flooded), goodput(taken.calm)),
        bytesPerNs(taken.calm),
        bytesPerNs(taken.flooded),
        ratios(bytesPerNs(taken.flooded), bytesPerNs(taken.calm)),
        taken.sent,
        counted(before, after));
  }

  /* Adds a sample, and returns the number of malformed packets that were sent meanwhile. */
  private long measure(
      PluginPerfContestant job,
      PluginPerfPlan.Step step,
      PacketFlood flood,
      List<PluginPerfContestant.Sample> samples)
      throws InterruptedException {
    PacketFlood.Run run = flood.begin(packetsPerMinute / SECONDS_PER_MINUTE);
    try (run) {
      samples.add(job.sample(step));
    }
    return run.sent();
  }

  private static List<Double> goodput(List<PluginPerfContestant.Sample> samples) {
    return samples.stream().map(PluginPerfContestant.Sample::figure).toList();
  }

  private List<Double> bytesPerNs(List<PluginPerfContestant.Sample> samples) {
    return samples.stream()
        .map(each -> each.figure() * BYTES_PER_GBPS_MS * milliseconds / each.processorNs())
        .toList();
  }

  /* Returns the growth of each counter. */
  private static List<FloodReport.Counted> counted(
      Map<String, Long> before, Map<String, Long> after) {
    return Arrays.stream(FloodPacket.values())
        .map(FloodPacket::counter)
        .distinct()
        .map(name ->
            new FloodReport.Counted(
                name, after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L)))
        .toList();
  }

  private static List<Double> ratios(List<Double> some, List<Double> others) {
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < some.size(); round++) {
      ratios.add(some.get(round) / others.get(round));
    }
    return ratios;
  }
}
