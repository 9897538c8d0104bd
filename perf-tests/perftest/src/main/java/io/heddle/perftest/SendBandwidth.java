package io.heddle.perftest;

import picocli.CommandLine.Command;

/** {@code heddle perf send_bw}. */
@Command(
    name = "send_bw",
    description = "Bandwidth of sends, as perftest's ib_send_bw.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class SendBandwidth extends BandwidthCommand {
  public SendBandwidth() {
    super(TestKind.SEND_BW);
  }
}
