package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import java.util.List;
import picocli.CommandLine.Option;

/** Options for planes and messages of a bandwidth measurement. */
final class MessagesOption {
  private static final int FEWEST_PLANES = 2;
  private static final int MOST_PLANES = 16;

  /** Largest number of messages in flight that the program of the ranks supports. */
  private static final int MOST_OUTSTANDING = 32;

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--bytes",
      paramLabel = "BYTES",
      defaultValue = "1M",
      converter = ByteSize.class,
      description = "Message size (${DEFAULT-VALUE}).")
  private long bytes;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      defaultValue = "8",
      description = "Messages in flight (${DEFAULT-VALUE}).")
  private int outstanding;

  int planes() {
    return planes;
  }

  long bytes() {
    return bytes;
  }

  int outstanding() {
    return outstanding;
  }

  void require(OptionRange range) {
    range.require("--planes", planes, FEWEST_PLANES, MOST_PLANES);
    range.require("--outstanding", outstanding, 1, MOST_OUTSTANDING);
    range.require("--bytes", bytes, 1, 1L << 30);
  }

  PluginPerfPlan plan(int rounds, int milliseconds, boolean pinned) {
    return new PluginPerfPlan(
        Installation.requirePart(Installation.PLUGIN_PERF, "the program of the ranks"),
        List.of(PluginPerfKind.BANDWIDTH),
        bytes,
        bytes,
        bytes,
        2,
        outstanding,
        1,
        0,
        rounds,
        milliseconds,
        pinned);
  }
}
