package io.heddle.perftest;

import picocli.CommandLine.Mixin;

/** Common part of the commands of the bandwidth tests. */
abstract class BandwidthCommand extends PerftestCommand {
  @Mixin private final BandwidthOptions bandwidth = new BandwidthOptions();
  @Mixin private final PlaneOptions planes = new PlaneOptions();

  BandwidthCommand(TestKind kind) {
    super(kind);
  }

  @Override
  Settings settings() {
    return new Settings(
        kind(),
        host(),
        common().tcpPort,
        bandwidth.traffic(kind(), common()),
        common().link(),
        planes.choice(kind(), common()),
        common()
            .output(
                kind(),
                bandwidth.gigabits,
                false,
                bandwidth.leastRate,
                bandwidth.leastMessageRate));
  }
}
