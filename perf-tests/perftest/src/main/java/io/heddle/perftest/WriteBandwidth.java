package io.heddle.perftest;

import picocli.CommandLine.Command;

/** {@code heddle perf write_bw}. */
@Command(
    name = "write_bw",
    description = "Bandwidth of RDMA writes, as perftest's ib_write_bw.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class WriteBandwidth extends BandwidthCommand {
  public WriteBandwidth() {
    super(TestKind.WRITE_BW);
  }
}
