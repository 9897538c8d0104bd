package io.heddle.perftest;

import picocli.CommandLine.Command;

/** {@code heddle perf read_bw}. */
@Command(
    name = "read_bw",
    description = "Bandwidth of RDMA reads, as perftest's ib_read_bw.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class ReadBandwidth extends BandwidthCommand {
  public ReadBandwidth() {
    super(TestKind.READ_BW);
  }
}
