package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares policy packet with policies that have one queue pair per plane, without and
 * with packet loss. Policy packet has one queue pair over all planes.
 */
@Command(
    name = "packet",
    description =
        "Measures the bandwidth of the policy packet beside spray and go-back-N, without loss and"
            + " with loss. Packet and spray retransmit only lost packets.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nEach contestant runs in two separate processes; contestants alternate, round by round."
            + " Wrong data ends the run.")
final class PerfPacketCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final double LARGEST_LOSS = 0.5;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption();

  @Option(
      names = "--loss",
      paramLabel = "SHARE",
      defaultValue = "0.001",
      description = "Share of packets lost in the runs with loss (${DEFAULT-VALUE}).")
  private double loss;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "7",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      defaultValue = "300",
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

  /** Contestant at one share of lost packets. */
  private record Entry(String name, String policy, boolean standardPeers, double loss) {
    Map<String, String> environment() {
      return Map.of(
          "HEDDLE_PROVIDER",
          "soft",
          "HEDDLE_POLICY",
          policy,
          "HEDDLE_SOFT_PEERS",
          standardPeers ? "standard" : "soft",
          "HEDDLE_SOFT_FAULTS",
          String.format(Locale.ROOT, "loss=%f,seed=7", loss));
    }

    String label() {
      return name + (loss > 0 ? " with loss" : "");
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    messages.require(range);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--milliseconds", milliseconds, 10, 60_000);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    if (!(loss > 0 && loss <= LARGEST_LOSS)) {
      throw LabCommand.usage(
          Objects.requireNonNull(spec).commandLine(),
          "--loss " + loss + " is not above 0 and at most " + LARGEST_LOSS);
    }
    PluginPerfPlan plan = messages.plan(rounds, milliseconds, !unpinned);
    Labs.Choice choice = hosts.chooseNamespaces("go-back-N needs port 4791 for itself");
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    PacketReport report = measure(choice, plan);
    form.publish(spec, "packet-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (double share : List.of(0.0, loss)) {
      entries.add(new Entry("spray", "spray", false, share));
      entries.add(new Entry("packet", "packet", false, share));
      entries.add(new Entry("go-back-N", "spray", true, share));
    }
    return entries;
  }

  private PacketReport measure(Labs.Choice choice, PluginPerfPlan plan)
      throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    double loadBefore = HostLoad.ofLastMinute();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Map<Entry, PluginPerfContestant> contestants = new LinkedHashMap<>();
    Map<Entry, List<Double>> goodput = new LinkedHashMap<>();
    try (Cleanup cleanup = new Cleanup()) {
      for (Entry entry : entries()) {
        progress.update(() -> "heddle perf packet: warming up " + entry.label());
        /*
         * Each contestant has its own hosts. Standard peers receive on port 4791 only, and only one
         * process of a host can bind that port.
         */
        Lab lab =
            cleanup.add(Labs.create(choice.kind(), new LabPlan(RANKS, messages.planes(), mtu)));
        PluginPerfContestant contestant =
            cleanup.add(
                new PluginPerfContestant(lab, entry.label(), plugin, plan, entry.environment()));
        contestant.awaitWarm();
        contestants.put(entry, contestant);
        goodput.put(entry, new ArrayList<>());
      }
      for (PluginPerfPlan.Step step : plan.steps()) {
        for (Map.Entry<Entry, PluginPerfContestant> each : contestants.entrySet()) {
          progress.update(() ->
              "heddle perf packet: round %s of %s, %s"
                  .formatted(step.round(), rounds, each.getKey().label()));
          Objects.requireNonNull(goodput.get(each.getKey())).add(each.getValue().measure(step));
        }
      }
      for (PluginPerfContestant contestant : contestants.values()) {
        contestant.awaitEnd();
      }
    }
    progress.clear();
    return new PacketReport(
        choice.kind().text(),
        messages.planes(),
        mtu,
        messages.bytes(),
        messages.outstanding(),
        milliseconds,
        rounds,
        loss,
        List.of(loadBefore, HostLoad.ofLastMinute()),
        rows(goodput));
  }

  private static List<PacketReport.Row> rows(Map<Entry, List<Double>> goodput) {
    List<PacketReport.Row> rows = new ArrayList<>();
    List<Double> spray = Objects.requireNonNull(goodput.get(new Entry("spray", "spray", false, 0)));
    goodput.forEach((entry, own) -> {
      Entry lossless = new Entry(entry.name(), entry.policy(), entry.standardPeers(), 0);
      rows.add(
          new PacketReport.Row(
              entry.name(),
              entry.loss(),
              own,
              ratios(own, spray),
              ratios(own, Objects.requireNonNull(goodput.get(lossless)))));
    });
    return rows;
  }

  private static List<Double> ratios(List<Double> some, List<Double> others) {
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < some.size(); round++) {
      ratios.add(some.get(round) / others.get(round));
    }
    return ratios;
  }
}
