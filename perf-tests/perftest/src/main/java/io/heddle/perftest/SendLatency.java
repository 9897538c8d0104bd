package io.heddle.perftest;

import picocli.CommandLine.Command;

/** {@code heddle perf send_lat}. */
@Command(
    name = "send_lat",
    description = "Half round trip of sends, as perftest's ib_send_lat.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class SendLatency extends LatencyCommand {
  public SendLatency() {
    super(TestKind.SEND_LAT);
  }
}
