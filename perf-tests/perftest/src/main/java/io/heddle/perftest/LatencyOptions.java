package io.heddle.perftest;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the latency tests, under perftest's names. */
final class LatencyOptions {
  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "N",
      description = "Receives posted (512).")
  private @Nullable Integer receiveDepth;

  @Option(
      names = {"-U", "--report-unsorted"},
      description = "Print every half round trip in order of time.")
  boolean unsorted;

  Settings.Traffic traffic(TestKind kind, CommonOptions common) {
    long iterations = common.iterations(kind);
    int seconds = common.duration();
    int receives = receiveDepth == null ? kind.defaultReceiveDepth() : receiveDepth;
    common.requireRange("-r", receives, 1, 16_384);
    if (kind.isSend() && seconds == 0) {
      receives = (int) Math.min(receives, iterations);
    }
    return new Settings.Traffic(
        common.size(kind),
        common.all,
        iterations,
        seconds,
        common.margin(),
        1,
        kind.defaultSendDepth(),
        receives,
        1,
        1,
        common.inline(kind),
        false,
        false);
  }
}
