package io.heddle.perftest;

import picocli.CommandLine.Command;

/** {@code heddle perf write_lat}. */
@Command(
    name = "write_lat",
    description = "Half round trip of RDMA writes, as perftest's ib_write_lat.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class WriteLatency extends LatencyCommand {
  public WriteLatency() {
    super(TestKind.WRITE_LAT);
  }
}
