package io.heddle.perftest;

import picocli.CommandLine.Mixin;

/** Common part of the commands of the latency tests. */
abstract class LatencyCommand extends PerftestCommand {
  @Mixin private final LatencyOptions latency = new LatencyOptions();
  @Mixin private final PlaneOptions planes = new PlaneOptions();

  LatencyCommand(TestKind kind) {
    super(kind);
  }

  @Override
  Settings settings() {
    return new Settings(
        kind(),
        host(),
        common().tcpPort,
        latency.traffic(kind(), common()),
        common().link(),
        planes.choice(kind(), common()),
        common().output(kind(), false, latency.unsorted, 0, 0));
  }
}
