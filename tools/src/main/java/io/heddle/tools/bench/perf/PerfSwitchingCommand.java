package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Results;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricSwitching;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.TemporaryFabric;
import io.heddle.tools.switching.LabSwitches;
import io.heddle.tools.switching.LinkCount;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
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

  /** Policies that aren't the plugin's own, by their names in figures. */
  private static final Map<String, String> OTHERS =
      Map.of(STANDARD, "standard peers", RXE, "the kernel's devices");

  private static final String OF_CAPACITY = " ÷ capacity";
  private static final String OF_HASH = " ÷ hash";
  private static final String NEEDLESS = ", needless sendings";
  private static final String MARKED = ", marked";
  private static final int ANNOUNCED_GBPS = 100;
  private static final int QUARTER = 4;

  /** Seconds allowed for a guest's start and end on a busy machine. */
  private static final int GUEST_SECONDS = 300;

  /** Seconds allowed for each measurement in a guest, in addition to its duration. */
  private static final int GUEST_SAMPLE_SECONDS = 60;

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

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption(3, 2_000);

  @Option(
      names = "--rate",
      paramLabel = "GBPS",
      description = "Rate of a link, Gbit/s (${DEFAULT-VALUE}).")
  private double rate = 0.2;

  @Option(
      names = "--guest-rate",
      paramLabel = "GBPS",
      description =
          "Rate of a link for rxe, Gbit/s; must be less than an emulated guest can send"
              + " (${DEFAULT-VALUE}).")
  private double guestRate = 0.005;

  @Option(
      names = "--per-packet",
      description =
          "Hosts send single packets; otherwise a switch handles a segment train as one packet.")
  private boolean perPacket;

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /** Rates of the links in a situation. */
  private enum Links {
    EQUAL("all links equal"),
    QUARTER("link 1 at a quarter of the rate, unannounced");

    private final String text;

    Links(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = messages.required(range, 100);
    range.require("--rate in Mbit/s", (long) (rate * 1_000), 40, 100_000);
    range.require("--guest-rate in Mbit/s", (long) (guestRate * 1_000), 4, 1_000);
    for (String policy : policies) {
      if (!POLICIES.contains(policy)) {
        throw LabCommand.usage(
            options.line(),
            "--policies " + policy + " is not one of " + String.join(", ", POLICIES));
      }
    }
    LabSwitches.refusal()
        .ifPresent(reason -> {
          throw new HeddleException(reason);
        });
    FabricSwitching how =
        new FabricSwitching(SwitchingMode.HASH, false, SprayScope.GLOBAL, perPacket);
    int samples = count * modes.size() * Links.values().length;
    Contest contest =
        messages
            .contest(
                "perf switching",
                "policies over leaves that hash or spray",
                "%1$s, %2$s%3$s",
                count)
            .set("rate_gbps", rate)
            .set("payload_share", MessagesOption.PAYLOAD_SHARE)
            .set("packets", perPacket ? "single" : "segment trains");
    for (Links each : Links.values()) {
      contest.remark(each + ": " + each.text);
    }
    return options.run(
        "switching", contest, into -> measure(into, how, messages.plan(samples, false), samples));
  }

  private void measure(Contest contest, FabricSwitching how, PluginPlan plan, int samples)
      throws IOException, InterruptedException {
    contest.show("checking whether a guest can run");
    String skipped = policies.contains(RXE) ? RxeContestant.refusal().orElse("") : "";
    if (!skipped.isEmpty() && options.line().getParseResult().hasMatchedOption("--policies")) {
      throw new HeddleException("rxe can't be measured here: " + skipped);
    }
    if (!skipped.isEmpty()) {
      contest.remark("without rxe: " + skipped);
    } else if (policies.contains(RXE)) {
      contest.set("guest_rate_gbps", guestRate);
      contest.remark("rxe: the kernel's devices in a guest, over links of the guest's rate");
    }
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      contest.show("building the fabric");
      TemporaryFabric own =
          TemporaryFabric.up('s', messages.fabric(rate, ANNOUNCED_GBPS), folder.path(), cleanup);
      Fabric fabric = own.fabric();
      LabSwitches leaves = cleanup.add(fabric.startSwitching(how));
      for (String policy : policies) {
        boolean guest = policy.equals(RXE);
        if (guest && !skipped.isEmpty()) {
          continue;
        }
        contest.show("warming up " + policy);
        leaves.configure(SwitchingMode.HASH, SprayScope.GLOBAL);
        double rateGbps = guest ? guestRate : rate;
        setRates(fabric, rateGbps, 1);
        long limitSeconds =
            GUEST_SECONDS
                + (long) samples * (GUEST_SAMPLE_SECONDS + messages.milliseconds() / 1_000);
        try (SwitchedTraffic traffic =
            guest
                ? new RxeContestant(fabric, leaves, messages.milliseconds(), limitSeconds)
                : new SwitchedContestant(own.lab(), policy, plugin, plan, messages.step())) {
          traffic.awaitWarm();
          List<Contestant<Links>> all =
              modes.stream().map(mode -> switched(policy, mode, traffic, fabric, leaves)).toList();
          for (Links links : Links.values()) {
            setRates(fabric, rateGbps, links == Links.QUARTER ? QUARTER : 1);
            contest.measure(List.of(links), 0, all);
          }
          traffic.awaitEnd();
        }
      }
    }
    summarise(contest);
  }

  private static Contestant<Links> switched(
      String policy,
      SwitchingMode mode,
      SwitchedTraffic traffic,
      Fabric fabric,
      LabSwitches leaves) {
    return Contestant.of(
        policy + ", " + mode.text(),
        (links, round) -> {
          leaves.configure(mode, SprayScope.GLOBAL);
          List<LinkCount> before = leaves.counts();
          SwitchedTraffic.Sample sample = traffic.sample();
          List<LinkCount> after = leaves.counts();
          double capacity =
              fabric.plan().ratesBitsPerSecond().stream().mapToLong(Long::longValue).sum()
                  / MessagesOption.GIGA;
          double ofCapacity = sample.goodputGbps() / (capacity * traffic.payloadShare());
          String step = links.toString();
          round.add(step, "", "Gbit/s", sample.goodputGbps());
          round.add(step, OF_CAPACITY, "", ofCapacity);
          round.add(step, ", message p99", "ms", sample.messageP99Ms());
          round.add(step, NEEDLESS, "", sample.spuriousRetransmissions());
          double marked =
              sum(after, LinkCount::markedPackets) - sum(before, LinkCount::markedPackets);
          double others =
              sum(after, LinkCount::otherPackets) - sum(before, LinkCount::otherPackets);
          round.add(step, MARKED, "", marked / (marked + others));
        });
  }

  private static double sum(List<LinkCount> links, ToLongFunction<LinkCount> packets) {
    return links.stream().mapToLong(packets).sum();
  }

  /* Sets the rate of all links. The first link's rate is divided by slowedBy. */
  private static void setRates(Fabric fabric, double gbps, int slowedBy) {
    for (int plane = 1; plane <= fabric.plan().planes(); plane++) {
      long bitsPerSecond = Math.round(gbps * MessagesOption.GIGA / (plane == 1 ? slowedBy : 1));
      if (fabric.plan().ratesBitsPerSecond().get(plane - 1) != bitsPerSecond) {
        fabric.setRate(plane, bitsPerSecond, ANNOUNCED_GBPS);
      }
    }
  }

  /**
   * Compares each policy with itself over hashing switches, and adds the worst values: of the
   * plugin's policies for each state of the links and each mode, of standard peers, and of the
   * kernel's devices.
   */
  static void summarise(Contest contest) {
    for (Results.Series each : contest.series("")) {
      List<Double> hash =
          contest.values(each.step(), policyOf(each) + ", " + SwitchingMode.HASH.text(), "");
      if (!hash.isEmpty()) {
        contest.compare(Contest.Ratio.OF_ROUNDS, each, hash, OF_HASH);
      }
    }
    for (String quantity : List.of(OF_CAPACITY, OF_HASH)) {
      Map<String, Double> worst = new LinkedHashMap<>();
      for (Results.Series each : contest.series(quantity)) {
        if (!OTHERS.containsKey(policyOf(each))) {
          String mode = each.contestant().substring(policyOf(each).length());
          worst.merge(each.step() + mode, each.figure().median(), Math::min);
        }
      }
      worst.forEach(
          (at, value) -> contest.add(Figure.of(at + ", worst policy" + quantity, "", value)));
    }
    addMost(
        contest,
        "needless sendings under spraylink",
        NEEDLESS,
        each ->
            !OTHERS.containsKey(policyOf(each))
                && each.contestant().endsWith(SwitchingMode.SPRAYLINK.text()));
    OTHERS.forEach((policy, text) -> {
      contest.series(OF_HASH).stream()
          .filter(each -> policyOf(each).equals(policy))
          .mapToDouble(each -> each.figure().median())
          .min()
          .ifPresent(value -> contest.add(Figure.of(text + ", worst" + OF_HASH, "", value)));
      addMost(contest, text + MARKED, MARKED, each -> policyOf(each).equals(policy));
    });
  }

  private static void addMost(
      Contest contest, String name, String quantity, Predicate<Results.Series> of) {
    contest.series(quantity).stream()
        .filter(of)
        .mapToDouble(each -> each.figure().median())
        .max()
        .ifPresent(value -> contest.add(Figure.of(name, "", value)));
  }

  private static String policyOf(Results.Series series) {
    return series.contestant().substring(0, series.contestant().indexOf(','));
  }
}
