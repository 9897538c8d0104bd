package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.PlaneBursts;
import io.heddle.tools.lab.TemporaryFabric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that compares the spray policies on a fabric with unequal planes. */
@Command(
    name = "policies",
    description =
        "Measures goodput and message times of every spray policy over a fabric of real routers"
            + " with weights from BGP: equal planes, one plane at a quarter of the rate (announced,"
            + " and unannounced), and bursts of other traffic. Needs root.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nEach policy runs in two separate processes; policies alternate, round by round. Wrong"
            + " data ends the run.")
final class PerfPoliciesCommand implements Callable<Integer> {
  private static final double GIGA = 1e9;
  private static final double MICROSECONDS_PER_MS = 1e3;

  /**
   * Share of the payload in a packet of the soft device: 8,704 B of payload, and headers of
   * Ethernet, IPv6, UDP, BTH, RETH and ICRC.
   */
  private static final double PAYLOAD_SHARE = 8704.0 / (8704 + 14 + 40 + 8 + 12 + 16 + 4);

  /**
   * Factor from a link's rate to the path bandwidth that BGP announces for it. Rates may be
   * fractions of a Gbit/s, but BGP carries whole Gbit/s.
   */
  private static final int ANNOUNCED_TIMES = 100;

  private static final int MTU_BYTES = 9_000;
  private static final int QUEUE_MS = 250;
  private static final int HOLD_SECONDS = 9;
  private static final long SEED = 7;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--policies",
      paramLabel = "POLICY",
      split = ",",
      description = "Any of ${COMPLETION-CANDIDATES} (all but packet).")
  private List<PolicyName> policies =
      List.copyOf(EnumSet.complementOf(EnumSet.of(PolicyName.PACKET)));

  @Option(
      names = "--situations",
      paramLabel = "SITUATION",
      split = ",",
      defaultValue = "EQUAL,ANNOUNCED,UNANNOUNCED,BURSTS",
      description = "Any of ${COMPLETION-CANDIDATES}, in upper or lower case (all).")
  private List<PolicySituation> situations = List.of();

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption();

  @Option(
      names = "--rate",
      defaultValue = "0.4",
      paramLabel = "GBPS",
      description = "Rate of a plane's links, Gbit/s, in steps of 0.04 (${DEFAULT-VALUE}).")
  private double rate;

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

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    messages.require(range);
    range.require("--rounds", rounds, 1, 1_000);
    range.require("--milliseconds", milliseconds, 100, 60_000);
    range.require("--rate in Mbit/s", (long) (rate * 1_000), 40, 100_000);
    PluginPerfPlan plan = messages.plan(rounds * situations.size(), milliseconds, false);
    PolicyReport report = run(plan);
    form.publish(spec, "policies-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private static List<Double> shares(List<Long> before, List<Long> after) {
    double all = 0;
    for (int plane = 0; plane < before.size(); plane++) {
      all += after.get(plane) - before.get(plane);
    }
    List<Double> shares = new ArrayList<>();
    for (int plane = 0; plane < before.size(); plane++) {
      shares.add((after.get(plane) - before.get(plane)) / all);
    }
    return shares;
  }

  private FabricPlan fabricPlan() {
    return new FabricPlan(
        FabricShape.LEAF_SPINE,
        messages.planes(),
        1,
        2,
        2,
        Collections.nCopies(messages.planes(), (long) (rate * GIGA)),
        Collections.nCopies(messages.planes(), announced(1)),
        MTU_BYTES,
        QUEUE_MS,
        HOLD_SECONDS,
        0,
        false);
  }

  private int announced(int slowedBy) {
    return (int) Math.round(rate * ANNOUNCED_TIMES / slowedBy);
  }

  private PolicyReport run(PluginPerfPlan plan) throws IOException, InterruptedException {
    ProgressLine progress = ProgressLine.onStandardError();
    double loadBefore = HostLoad.ofLastMinute();
    List<PolicyReport.Situation> found = new ArrayList<>();
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      TemporaryFabric own = TemporaryFabric.up('p', fabricPlan(), folder.path(), cleanup);
      Fabric fabric = own.fabric();
      Map<String, PluginPerfContestant> contestants = new LinkedHashMap<>();
      Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
      for (PolicyName policy : policies) {
        progress.update(() -> "heddle perf policies: warming up " + policy);
        PluginPerfContestant contestant =
            cleanup.add(
                new PluginPerfContestant(
                    own.lab(),
                    policy.toString(),
                    plugin,
                    plan,
                    Map.of("HEDDLE_POLICY", policy.toString())));
        contestant.awaitWarm();
        contestants.put(policy.toString(), contestant);
      }
      int round = 0;
      for (PolicySituation situation : situations) {
        int announced = announced(situation.announces() ? situation.slowedBy() : 1);
        fabric.setRate(1, (long) (rate * GIGA / situation.slowedBy()), announced);
        own.speakers().awaitWeight(1, announced * 1_000);
        found.add(situation(situation, fabric, contestants, round, progress));
        round += rounds;
      }
      for (PluginPerfContestant contestant : contestants.values()) {
        contestant.awaitEnd();
      }
    }
    progress.clear();
    return new PolicyReport(
        messages.planes(),
        rate,
        MTU_BYTES,
        messages.bytes(),
        messages.outstanding(),
        milliseconds,
        rounds,
        PAYLOAD_SHARE,
        List.of(loadBefore, HostLoad.ofLastMinute()),
        found);
  }

  private PolicyReport.Situation situation(
      PolicySituation situation,
      Fabric fabric,
      Map<String, PluginPerfContestant> contestants,
      int roundsBefore,
      ProgressLine progress)
      throws InterruptedException {
    Map<String, PolicyReport.Cell> cells = new LinkedHashMap<>();
    for (String policy : contestants.keySet()) {
      cells.put(
          policy,
          new PolicyReport.Cell(
              policy, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
    }
    double calm = fabric.plan().ratesBitsPerSecond().stream().mapToLong(Long::longValue).sum();
    try (PlaneBursts bursts = fabric.bursts()) {
      for (int round = 1; round <= rounds; round++) {
        PluginPerfPlan.Step step =
            new PluginPerfPlan.Step(
                roundsBefore + round, PluginPerfKind.BANDWIDTH, messages.bytes());
        for (Map.Entry<String, PluginPerfContestant> each : contestants.entrySet()) {
          int turn = round;
          progress.update(() ->
              "heddle perf policies: %s, round %s of %s, %s"
                  .formatted(situation.label(), turn, rounds, each.getKey()));
          PluginPerfContestant.Sample sample;
          List<Long> before = fabric.receivedBytesByPlane();
          double possible = calm;
          if (situation == PolicySituation.BURSTS) {
            /* All policies of a round see the same bursts. */
            PlaneBursts.Run run = bursts.begin(SEED + round);
            try (run) {
              sample = each.getValue().sample(step);
            }
            possible = run.bitsPerSecond();
          } else {
            sample = each.getValue().sample(step);
          }
          PolicyReport.Cell cell = Objects.requireNonNull(cells.get(each.getKey()));
          cell.goodputGbps().add(sample.figure());
          cell.ofIdeal().add(sample.figure() * GIGA / (possible * PAYLOAD_SHARE));
          cell.messageP99Ms().add(sample.messageP99Us() / MICROSECONDS_PER_MS);
          cell.planeShares().add(shares(before, fabric.receivedBytesByPlane()));
        }
      }
    }
    return new PolicyReport.Situation(
        situation.label(), situation.text(), List.copyOf(cells.values()));
  }
}
