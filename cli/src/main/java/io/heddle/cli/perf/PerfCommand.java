package io.heddle.cli.perf;

import io.heddle.perftest.ReadBandwidth;
import io.heddle.perftest.SendBandwidth;
import io.heddle.perftest.SendLatency;
import io.heddle.perftest.WriteBandwidth;
import io.heddle.perftest.WriteLatency;
import picocli.CommandLine.Command;

/** Commands {@code heddle perf}, which run benchmarks. */
@Command(
    name = "perf",
    description =
        "Benchmarks: a device against another host, which may run perftest itself; in a checkout,"
            + " also the plugin beside a rival.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      WriteBandwidth.class,
      SendBandwidth.class,
      ReadBandwidth.class,
      WriteLatency.class,
      SendLatency.class
    })
public final class PerfCommand {}
