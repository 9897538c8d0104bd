package io.heddle.cli.bench.perf;

import io.heddle.perftest.ReadBandwidth;
import io.heddle.perftest.SendBandwidth;
import io.heddle.perftest.SendLatency;
import io.heddle.perftest.WriteBandwidth;
import io.heddle.perftest.WriteLatency;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Parent of the benchmark commands. */
@Command(
    name = "perf",
    description =
        "Benchmarks: the plugin beside a rival, and, like perftest, a device against another host,"
            + " which may run perftest itself.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      PerfPluginCommand.class,
      PerfAllReduceCommand.class,
      PerfAmongThreadsCommand.class,
      PerfCallsCommand.class,
      PerfVerbsCommand.class,
      PerfStandinCommand.class,
      PerfStartCommand.class,
      PerfScaleCommand.class,
      PerfOneSidedCommand.class,
      PerfOneSidedCheckCommand.class,
      PerfPoliciesCommand.class,
      PerfPacketCommand.class,
      PerfSwitchingCommand.class,
      PerfFloodCommand.class,
      PerfJmhCommand.class,
      PerfBgpCommand.class,
      PerfFailoverCommand.class,
      WriteBandwidth.class,
      SendBandwidth.class,
      ReadBandwidth.class,
      WriteLatency.class,
      SendLatency.class
    })
public final class PerfCommand {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;
}
