package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Results;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
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
  /** End of the names of contestants that lose packets. */
  private static final String LOSS = ", loss";

  private static final int RANKS = 2;
  private static final double LARGEST_LOSS = 0.5;

  @CommandLine.Mixin private final MessagesOption messages = new MessagesOption(7, 300);

  @Option(
      names = "--loss",
      paramLabel = "SHARE",
      description = "Share of packets lost in the runs with loss (${DEFAULT-VALUE}).")
  private double loss = 0.001;

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu = 9000;

  @Option(names = "--no-pin", description = "Don't pin data threads to processors.")
  private boolean unpinned;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /** Contestant at one share of lost packets. */
  private record Entry(String policy, String peers, String name) {}

  private static final List<Entry> ENTRIES =
      List.of(
          new Entry("spray", "soft", "spray"),
          new Entry("packet", "soft", "packet"),
          new Entry("spray", "standard", "go-back-N"));

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = messages.required(range, 10);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    if (!(loss > 0 && loss <= LARGEST_LOSS)) {
      throw LabCommand.usage(
          options.line(), "--loss " + loss + " is not above 0 and at most " + LARGEST_LOSS);
    }
    PluginPlan plan = messages.plan(count, !unpinned);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Labs.Choice choice = hosts.chooseNamespaces("go-back-N needs port 4791 for itself");
    Contest contest =
        messages
            .contest(
                "perf packet",
                "one queue pair over all planes (packet) beside one for each (spray)",
                "%2$s%3$s",
                count)
            .set("mtu_bytes", mtu)
            .set("loss", loss);
    contest.remark(
        "packets are dropped at the receiver, acknowledgements too; go-back-N is spray between"
            + " devices that treat each other as standard devices");
    return options.run(
        hosts,
        choice,
        "packet",
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            List<PluginContestant> all = new ArrayList<>();
            for (double share : List.of(0.0, loss)) {
              for (Entry entry : ENTRIES) {
                all.add(
                    cleanup.add(contestant(choice.kind(), plugin, plan, entry, share, cleanup)));
                into.awaitWarm(List.of(all.getLast()));
              }
            }
            into.measure(plan.steps(), 0, all);
            into.awaitEnd(all);
          }
          compare(into, messages.step().toString());
        });
  }

  /*
   * Each contestant has its own hosts. Standard peers receive on port 4791 only, and only one
   * process of a host can bind that port.
   */
  private PluginContestant contestant(
      Lab.Kind kind, Path plugin, PluginPlan plan, Entry entry, double share, Cleanup cleanup)
      throws IOException {
    Lab lab = cleanup.add(Labs.create(kind, new LabPlan(RANKS, messages.planes(), mtu)));
    return new PluginContestant(
        lab,
        entry.name() + (share > 0 ? LOSS : ""),
        plugin,
        plan,
        Map.of(
            "HEDDLE_PROVIDER",
            "soft",
            "HEDDLE_POLICY",
            entry.policy(),
            "HEDDLE_SOFT_PEERS",
            entry.peers(),
            "HEDDLE_SOFT_FAULTS",
            String.format(Locale.ROOT, "loss=%f,seed=7", share)));
  }

  /** Compares all with spray, and those with loss with themselves without loss. */
  static void compare(Contest contest, String step) {
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "spray", " ÷ spray");
    for (Results.Series each : contest.series("")) {
      if (each.contestant().endsWith(LOSS)) {
        String own = each.contestant().substring(0, each.contestant().length() - LOSS.length());
        contest.compare(
            Contest.Ratio.OF_ROUNDS, each, contest.values(step, own, ""), " ÷ lossless");
      }
    }
  }
}
