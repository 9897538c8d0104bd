package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import java.util.Collections;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options for planes and messages of a bandwidth measurement. */
final class MessagesOption {
  static final double GIGA = 1e9;

  /**
   * Share of the payload in a packet of the soft device: 8,704 B of payload, and headers of
   * Ethernet, IPv6, UDP, BTH, RETH and ICRC.
   */
  static final double PAYLOAD_SHARE = 8704.0 / (8704 + 14 + 40 + 8 + 12 + 16 + 4);

  private static final int FABRIC_MTU_BYTES = 9_000;
  private static final int QUEUE_MS = 250;
  private static final int HOLD_SECONDS = 9;
  private static final int FEWEST_PLANES = 2;
  private static final int MOST_PLANES = 16;

  /** Largest number of messages in flight that the program of the ranks supports. */
  private static final int MOST_OUTSTANDING = 32;

  @Option(names = "--planes", paramLabel = "N", description = "Planes (${DEFAULT-VALUE}).")
  private int planes = 4;

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
      description = "Messages in flight (${DEFAULT-VALUE}).")
  private int outstanding = 8;

  @CommandLine.Mixin private final RoundsOption rounds;

  @Option(
      names = "--milliseconds",
      paramLabel = "N",
      description = "Duration of a measurement, ms (${DEFAULT-VALUE}).")
  private int milliseconds;

  /** Creates the options with the default values of rounds and milliseconds. */
  MessagesOption(int usualRounds, int usualMilliseconds) {
    rounds = new RoundsOption(usualRounds);
    milliseconds = usualMilliseconds;
  }

  int planes() {
    return planes;
  }

  int milliseconds() {
    return milliseconds;
  }

  /** Returns the number of rounds, if all options are allowed. */
  int required(OptionRange range, int leastMilliseconds) {
    range.require("--planes", planes, FEWEST_PLANES, MOST_PLANES);
    range.require("--outstanding", outstanding, 1, MOST_OUTSTANDING);
    range.require("--bytes", bytes, 1, 1L << 30);
    range.require("--milliseconds", milliseconds, leastMilliseconds, 60_000);
    return rounds.required(range);
  }

  /** Returns a contest with the options' settings. */
  Contest contest(String command, String title, String naming, int count) {
    return new Contest(command, title, naming, count)
        .set("planes", planes)
        .set("message_bytes", bytes)
        .set("outstanding", outstanding)
        .set("milliseconds", milliseconds);
  }

  /**
   * Returns a fabric of leaves and spines with two hosts.
   *
   * @param announced path bandwidth that BGP announces for each link, Gbit/s
   */
  FabricPlan fabric(double rateGbps, int announced) {
    return new FabricPlan(
        FabricShape.LEAF_SPINE,
        planes,
        1,
        2,
        2,
        Collections.nCopies(planes, (long) (rateGbps * GIGA)),
        Collections.nCopies(planes, announced),
        FABRIC_MTU_BYTES,
        QUEUE_MS,
        HOLD_SECONDS,
        0,
        false);
  }

  PluginPlan.Step step() {
    return new PluginPlan.Step(PluginKind.BANDWIDTH, bytes);
  }

  PluginPlan plan(int measurements, boolean pinned) {
    return new PluginPlan(
        Installation.requirePart(Installation.PLUGIN_PERF, "the program of the ranks"),
        List.of(PluginKind.BANDWIDTH),
        bytes,
        bytes,
        bytes,
        2,
        outstanding,
        1,
        0,
        measurements,
        milliseconds,
        pinned);
  }
}
