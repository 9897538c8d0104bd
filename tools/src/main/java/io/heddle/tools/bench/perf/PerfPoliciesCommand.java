package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.PlaneBursts;
import io.heddle.tools.lab.TemporaryFabric;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
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
  private static final String OF_IDEAL = " ÷ ideal";

  /** Name of the default policy, which is compared with the others. */
  private static final String OURS = PolicyName.SPRAY.toString();

  /**
   * Factor from a link's rate to the path bandwidth that BGP announces for it. Rates may be
   * fractions of a Gbit/s, but BGP carries whole Gbit/s.
   */
  private static final int ANNOUNCED_TIMES = 100;

  private static final long SEED = 7;

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

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption(3, 2_000);

  @Option(
      names = "--rate",
      paramLabel = "GBPS",
      description = "Rate of a plane's links, Gbit/s, in steps of 0.04 (${DEFAULT-VALUE}).")
  private double rate = 0.4;

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = messages.required(range, 100);
    range.require("--rate in Mbit/s", (long) (rate * 1_000), 40, 100_000);
    PluginPlan plan = messages.plan(count * situations.size(), false);
    Contest contest =
        messages
            .contest(
                "perf policies",
                "spray policies through leaves and spines",
                "%1$s, %2$s%3$s",
                count)
            .set("rate_gbps", rate)
            .set("payload_share", MessagesOption.PAYLOAD_SHARE);
    situations.forEach(each -> contest.remark(each.label() + ": " + each.text()));
    contest.remark("ideal: payload at the rate of all planes in that time");
    return options.run("policies", contest, into -> measure(into, plan));
  }

  private int announced(int slowedBy) {
    return (int) Math.round(rate * ANNOUNCED_TIMES / slowedBy);
  }

  private void measure(Contest contest, PluginPlan plan) throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      TemporaryFabric own =
          TemporaryFabric.up('p', messages.fabric(rate, announced(1)), folder.path(), cleanup);
      Fabric fabric = own.fabric();
      Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
      List<PluginContestant> all = new ArrayList<>();
      for (PolicyName policy : policies) {
        String name = policy.toString();
        Map<String, String> environment = Map.of("HEDDLE_POLICY", name);
        all.add(cleanup.add(new PluginContestant(own.lab(), name, plugin, plan, environment)));
        contest.awaitWarm(List.of(all.getLast()));
      }
      for (PolicySituation situation : situations) {
        int announced = announced(situation.announces() ? situation.slowedBy() : 1);
        fabric.setRate(1, (long) (rate * MessagesOption.GIGA / situation.slowedBy()), announced);
        own.speakers().awaitWeight(1, announced * 1_000);
        try (PlaneBursts bursts = fabric.bursts()) {
          contest.measure(
              List.of(situation),
              0,
              all.stream().map(each -> spraying(each, fabric, bursts)).toList());
        }
        compareWithBest(contest, situation.label());
      }
      contest.awaitEnd(all);
    }
  }

  private Contestant<PolicySituation> spraying(
      PluginContestant ranks, Fabric fabric, PlaneBursts bursts) {
    AtomicInteger burstRounds = new AtomicInteger();
    return Contestant.of(
        ranks.name(),
        (situation, round) -> {
          PluginContestant.Sample sample;
          List<Long> before = fabric.receivedBytesByPlane();
          double possible = sum(fabric.plan().ratesBitsPerSecond());
          if (situation == PolicySituation.BURSTS) {
            /* All policies of a round see the same bursts. */
            PlaneBursts.Run run = bursts.begin(SEED + burstRounds.incrementAndGet());
            try (run) {
              sample = ranks.sample(messages.step());
            }
            possible = run.bitsPerSecond();
          } else {
            sample = ranks.sample(messages.step());
          }
          String label = situation.label();
          double ideal = possible * MessagesOption.PAYLOAD_SHARE / MessagesOption.GIGA;
          round.add(label, "", "Gbit/s", sample.figure());
          round.add(label, OF_IDEAL, "", sample.figure() / ideal);
          round.add(label, ", message p99", "ms", sample.messageP99Us() / 1e3);
          List<Long> after = fabric.receivedBytesByPlane();
          double all = sum(after) - sum(before);
          for (int plane = 0; plane < before.size(); plane++) {
            double share = (after.get(plane) - before.get(plane)) / all;
            round.add(label, ", share of plane " + (plane + 1), "", share);
          }
        });
  }

  private static double sum(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).sum();
  }

  /** Compares policy spray with the best other policy. */
  static void compareWithBest(Contest contest, String situation) {
    double best =
        contest.series(OF_IDEAL).stream()
            .filter(each -> each.step().equals(situation) && !each.contestant().equals(OURS))
            .mapToDouble(each -> each.figure().median())
            .max()
            .orElse(Double.NaN);
    double ours = contest.quantiles(situation, OURS, OF_IDEAL).median();
    contest.add(Figure.of(situation + ", " + OURS + " ÷ best other", "", ours / best));
  }
}
