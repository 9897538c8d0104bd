package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.platform.HeddleException;
import io.heddle.switching.LabSwitches;
import io.heddle.switching.SprayScope;
import io.heddle.switching.SwitchingMode;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.FabricSwitching;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.TemporaryFabric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares the hosts' spray policies over load-balancing switches, in each of the
 * switches' modes: hash, random spraying, and SprayLink.
 */
@Command(
    name = "switching",
    description =
        "Measures goodput, message times and needless retransmissions of the spray policies over"
            + " leaves that hash, spray at random or spray by load, with equal links and with one"
            + " at a quarter of the rate. Needs root.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nEach policy runs alone, in two processes; switching modes alternate, round by round."
            + " Wrong data ends the run.")
final class PerfSwitchingCommand implements Callable<Integer> {
  /**
   * Value of {@code --policies} for hosts that send as they send to standard devices, without ECN.
   */
  static final String STANDARD = "standard";

  /** Value of {@code --policies} for the kernel's RDMA devices in an emulated guest. */
  static final String RXE = "rxe";

  private static final List<String> POLICIES = List.of("pinned", "spray", "packet", STANDARD, RXE);
  private static final double GIGA = 1e9;

  private static final int MTU_BYTES = 9_000;
  private static final int QUEUE_MS = 250;
  private static final int HOLD_SECONDS = 9;
  private static final int ANNOUNCED_GBPS = 100;
  private static final int QUARTER = 4;

  /** Seconds allowed for a guest's start and end on a busy machine. */
  private static final int GUEST_SECONDS = 300;

  /** Seconds allowed for each measurement in a guest, in addition to its duration. */
  private static final int GUEST_SAMPLE_SECONDS = 60;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--policies",
      paramLabel = "POLICY",
      split = ",",
      description =
          "Any of pinned, spray, packet; standard: pinned with go-back-N and without ECN, as to"
              + " standard devices; and rxe: the kernel's RDMA devices in an emulated guest, over"
              + " links of --guest-rate. Default: all, without rxe where a guest can't run.")
  private List<String> policies = POLICIES;

  @Option(
      names = "--switching",
      paramLabel = "MODE",
      split = ",",
      description = "Any of ${COMPLETION-CANDIDATES} (all).")
  private List<SwitchingMode> modes = List.of(SwitchingMode.values());

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption();

  @Option(
      names = "--rate",
      defaultValue = "0.2",
      paramLabel = "GBPS",
      description = "Rate of a link, Gbit/s (${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--guest-rate",
      defaultValue = "0.005",
      paramLabel = "GBPS",
      description =
          "Rate of a link for rxe, Gbit/s; must be less than an emulated guest can send"
              + " (${DEFAULT-VALUE}).")
  private double guestRate;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      defaultValue = "2000",
      description = "Duration of a measurement, ms (${DEFAULT-VALUE}).")
  private int milliseconds;

  @Option(
      names = "--per-packet",
      description =
          "Hosts send single packets; otherwise a switch handles a segment train as one packet.")
  private boolean perPacket;

  @Option(names = "--nft", description = "Use nftables even where the BPF program can be loaded.")
  private boolean rulesOnly;

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  /** Rates of the links in a situation. */
  private enum Links {
    EQUAL("all links equal"),
    QUARTER("link 1 at a quarter of the rate, unannounced");

    private final String text;

    Links(String text) {
      this.text = text;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    messages.require(range);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--milliseconds", milliseconds, 100, 60_000);
    range.require("--rate in Mbit/s", (long) (rate * 1_000), 40, 100_000);
    range.require("--guest-rate in Mbit/s", (long) (guestRate * 1_000), 4, 1_000);
    for (String policy : policies) {
      if (!POLICIES.contains(policy)) {
        throw LabCommand.usage(
            Objects.requireNonNull(spec).commandLine(),
            "--policies " + policy + " is not one of " + String.join(", ", POLICIES));
      }
    }
    if (!rulesOnly) {
      LabSwitches.programRefusal()
          .ifPresent(reason -> {
            throw new HeddleException(
                reason + "; --nft measures nftables instead, which sprays at random only");
          });
    }
    int steps = rounds * modes.size() * Links.values().length;
    SwitchingReport report = run(messages.plan(steps, milliseconds, false));
    form.publish(spec, "switching-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private boolean isNamed(String option) {
    return Objects.requireNonNull(spec).commandLine().getParseResult().hasMatchedOption(option);
  }

  private FabricPlan fabricPlan() {
    return new FabricPlan(
        FabricShape.LEAF_SPINE,
        messages.planes(),
        1,
        2,
        2,
        Collections.nCopies(messages.planes(), (long) (rate * GIGA)),
        Collections.nCopies(messages.planes(), ANNOUNCED_GBPS),
        MTU_BYTES,
        QUEUE_MS,
        HOLD_SECONDS,
        0,
        false);
  }

  private SwitchingReport run(PluginPerfPlan plan) throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    double loadBefore = HostLoad.ofLastMinute();
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    FabricSwitching how =
        FabricSwitching.of(SwitchingMode.HASH, false, SprayScope.GLOBAL, perPacket, rulesOnly);
    Map<Links, List<SwitchingReport.Cell>> cells = new EnumMap<>(Links.class);
    for (Links links : Links.values()) {
      cells.put(links, new ArrayList<>());
    }
    progress.update(() -> "heddle perf switching: checking whether a guest can run");
    String skipped = policies.contains(RXE) ? RxeContestant.refusal().orElse("") : "";
    if (!skipped.isEmpty() && isNamed("--policies")) {
      throw new HeddleException("rxe can't be measured here: " + skipped);
    }
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      progress.update(() -> "heddle perf switching: building the fabric");
      TemporaryFabric own = TemporaryFabric.up('s', fabricPlan(), folder.path(), cleanup);
      LabSwitches switching = cleanup.add(own.fabric().startSwitching(how));
      for (String policy : policies) {
        if (policy.equals(RXE) && !skipped.isEmpty()) {
          continue;
        }
        progress.update(() -> "heddle perf switching: warming up " + policy);
        switching.configure(SwitchingMode.HASH, SprayScope.GLOBAL);
        setRates(own.fabric(), policy.equals(RXE) ? guestRate : rate, 1);
        try (SwitchedTraffic contestant = contestant(own, switching, policy, plugin, plan)) {
          contestant.awaitWarm();
          int round = 0;
          for (Links links : Links.values()) {
            Objects.requireNonNull(cells.get(links))
                .addAll(
                    measure(own.fabric(), switching, contestant, policy, links, round, progress));
            round += rounds * modes.size();
          }
          contestant.awaitEnd();
        }
      }
    }
    progress.clear();
    return new SwitchingReport(
        messages.planes(),
        rate,
        MTU_BYTES,
        messages.bytes(),
        messages.outstanding(),
        milliseconds,
        rounds,
        guestRate,
        skipped,
        SwitchedContestant.PAYLOAD_SHARE,
        how.implementation(),
        perPacket,
        List.of(loadBefore, HostLoad.ofLastMinute()),
        cells.entrySet().stream()
            .map(each ->
                new SwitchingReport.Situation(
                    each.getKey().name().toLowerCase(java.util.Locale.ROOT),
                    each.getKey().text,
                    each.getValue()))
            .toList());
  }

  private SwitchedTraffic contestant(
      TemporaryFabric own, LabSwitches switching, String policy, Path plugin, PluginPerfPlan plan)
      throws IOException, InterruptedException {
    if (policy.equals(RXE)) {
      long samples = (long) rounds * modes.size() * Links.values().length;
      long limitSeconds = GUEST_SECONDS + samples * (GUEST_SAMPLE_SECONDS + milliseconds / 1_000);
      return new RxeContestant(own.fabric(), switching, guestRate, milliseconds, limitSeconds);
    }
    return new SwitchedContestant(own.lab(), policy, plugin, plan, rate);
  }

  /* Sets the rate of all links. The first link's rate is divided by slowedBy. */
  private static void setRates(Fabric fabric, double gbps, int slowedBy) {
    for (int plane = 1; plane <= fabric.plan().planes(); plane++) {
      long bitsPerSecond = Math.round(gbps * GIGA / (plane == 1 ? slowedBy : 1));
      if (fabric.plan().ratesBitsPerSecond().get(plane - 1) != bitsPerSecond) {
        fabric.setRate(plane, bitsPerSecond, ANNOUNCED_GBPS);
      }
    }
  }

  private List<SwitchingReport.Cell> measure(
      Fabric fabric,
      LabSwitches switching,
      SwitchedTraffic contestant,
      String policy,
      Links links,
      int before,
      ProgressLine progress)
      throws IOException, InterruptedException {
    setRates(fabric, contestant.rateGbps(), links == Links.QUARTER ? QUARTER : 1);
    double capacity =
        fabric.plan().ratesBitsPerSecond().stream().mapToLong(Long::longValue).sum() / GIGA;
    Map<SwitchingMode, List<SwitchedTraffic.Sample>> samples = new EnumMap<>(SwitchingMode.class);
    int step = before;
    for (int round = 1; round <= rounds; round++) {
      for (SwitchingMode mode : modes) {
        int turn = round;
        progress.update(() ->
            "heddle perf switching: %s, %s, round %s of %s, %s"
                .formatted(policy, links.text, turn, rounds, mode));
        switching.configure(mode, SprayScope.GLOBAL);
        samples
            .computeIfAbsent(mode, key -> new ArrayList<>())
            .add(
                contestant.sample(
                    new PluginPerfPlan.Step(++step, PluginPerfKind.BANDWIDTH, messages.bytes()),
                    switching));
      }
    }
    List<SwitchingReport.Cell> cells = new ArrayList<>();
    for (SwitchingMode mode : modes) {
      List<SwitchedTraffic.Sample> own = Objects.requireNonNull(samples.get(mode));
      List<Double> ofHash = new ArrayList<>();
      List<SwitchedTraffic.Sample> hash = samples.getOrDefault(SwitchingMode.HASH, List.of());
      for (int round = 0; round < hash.size(); round++) {
        ofHash.add(own.get(round).goodputGbps() / hash.get(round).goodputGbps());
      }
      cells.add(
          new SwitchingReport.Cell(
              policy,
              mode.text(),
              own.stream().map(SwitchedTraffic.Sample::goodputGbps).toList(),
              own.stream()
                  .map(sample -> sample.goodputGbps() / (capacity * contestant.payloadShare()))
                  .toList(),
              ofHash,
              own.stream().map(SwitchedTraffic.Sample::messageP99Ms).toList(),
              own.stream().map(SwitchedTraffic.Sample::spuriousRetransmissions).toList(),
              own.stream().map(SwitchedTraffic.Sample::marked).toList()));
    }
    return cells;
  }
}
