package io.heddle.tools.bench.perf;

import java.util.List;

/** Commands of {@code heddle perf} that measure the plugin, its parts, and rivals. */
public final class PerfMeasurements {
  /** Classes of the commands, in the order in which the help shows them. */
  public static final List<Class<?>> COMMANDS =
      List.of(
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
          PerfFailoverCommand.class);

  private PerfMeasurements() {}
}
