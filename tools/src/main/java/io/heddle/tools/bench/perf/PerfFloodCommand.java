package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption(41, 200);

  @Option(
      names = "--packets",
      paramLabel = "N",
      description = "Malformed packets per minute, to both ranks in turn (${DEFAULT-VALUE}).")
  private int packetsPerMinute = 1000000;

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu = 9000;

  @Option(names = "--no-pin", description = "Don't pin data threads to processors.")
  private boolean unpinned;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = messages.required(range, 10);
    range.require("--packets", packetsPerMinute, SECONDS_PER_MINUTE, 60_000_000);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    PluginPlan plan = messages.plan(2 * count, !unpinned);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Labs.Choice choice = hosts.chooseNamespaces("a flood needs a third host");
    Contest contest =
        messages
            .contest("perf flood", "a job under malformed packets", "%1$s %2$s%3$s", count)
            .set("mtu_bytes", mtu)
            .set("packets_per_minute", packetsPerMinute);
    return options.run(
        hosts, choice, "flood", contest, into -> measure(into, choice.kind(), plugin, plan, count));
  }

  private Contestant<PluginPlan.Step> flooded(
      String name, PluginContestant job, PacketFlood flood) {
    return Contestant.of(
        name,
        (step, round) -> {
          PacketFlood.Run run = flood.begin(packetsPerMinute / SECONDS_PER_MINUTE);
          PluginContestant.Sample sample;
          try (run) {
            sample = job.sample(step);
          }
          double bytes = sample.figure() * BYTES_PER_GBPS_MS * messages.milliseconds();
          round.add("bandwidth", "", "Gbit/s", sample.figure());
          round.add("bandwidth", ", packets sent", "", run.sent());
          round.add("bandwidth a processor,", "", "B/ns", bytes / sample.processorNs());
        });
  }

  private void measure(Contest contest, Lab.Kind kind, Path plugin, PluginPlan plan, int count)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Path statistics = cleanup.add(new RunFolder()).path();
      Lab lab = cleanup.add(Labs.create(kind, new LabPlan(RANKS + 2, messages.planes(), mtu)));
      cleanup.add(new PacketFlood.Bystander(lab, BYSTANDER));
      PacketFlood toJob = cleanup.add(new PacketFlood(lab, FLOODER, 0, 1));
      PacketFlood elsewhere = cleanup.add(new PacketFlood(lab, FLOODER, BYSTANDER));
      /* Makes packets ECN-capable, so that the device checks them for congestion marks. */
      Map<String, String> environment =
          Map.of(
              "HEDDLE_PROVIDER",
              "soft",
              "HEDDLE_STATS_DIR",
              statistics.toString(),
              "NCCL_IB_TC",
              "2");
      PluginContestant job =
          cleanup.add(new PluginContestant(lab, "flooded", plugin, plan, environment));
      contest.awaitWarm(List.of(job));
      Map<String, Long> before = DeviceCounters.read(statistics);
      Contestant<PluginPlan.Step> with = flooded("with", job, toJob);
      Contestant<PluginPlan.Step> without = flooded("without", job, elsewhere);
      for (int round = 1; round <= count; round++) {
        contest.measureRound(
            round, plan.steps(), round % 2 == 1 ? List.of(with, without) : List.of(without, with));
      }
      contest.compare(Contest.Ratio.OF_ROUNDS, "", without.name(), " ÷ without");
      Map<String, Long> after = DeviceCounters.read(statistics);
      contest.awaitEnd(List.of(job));
      /* The growth of each counter of malformed packets, at both ranks together. */
      Arrays.stream(FloodPacket.values())
          .map(FloodPacket::counter)
          .distinct()
          .forEach(counter ->
              contest.add(
                  "counted",
                  counter,
                  "",
                  "",
                  after.getOrDefault(counter, 0L) - before.getOrDefault(counter, 0L)));
    }
  }
}
