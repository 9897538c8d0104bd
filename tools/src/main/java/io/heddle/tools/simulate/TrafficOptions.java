package io.heddle.tools.simulate;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.OptionRange;
import io.heddle.sim.patterns.Traffic;
import io.heddle.sim.patterns.TrafficPattern;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Options for the traffic. */
final class TrafficOptions {
  private static final long MOST_ROUND_BYTES = 1 << 30;
  private static final int MOST_ROUNDS = 1_000_000;
  private static final long MOST_CONNECTIONS = 4_000_000;

  @Option(
      names = "--pattern",
      paramLabel = "PATTERN",
      defaultValue = "ring",
      converter = PatternName.class,
      description =
          "Traffic pattern: ring, all-to-all, permutation, pipeline or incast (${DEFAULT-VALUE}).")
  private TrafficPattern pattern = TrafficPattern.RING;

  @Option(
      names = "--group",
      paramLabel = "N",
      description =
          "Number of GPUs that communicate with each other (all in a ring, 8 in all-to-all and"
              + " pipeline, 128 in an incast).")
  private int group;

  @Option(
      names = "--round",
      paramLabel = "SIZE",
      defaultValue = "4MiB",
      converter = ByteSize.class,
      description = "Bytes that a GPU sends in a round (${DEFAULT-VALUE}).")
  private long roundBytes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  TrafficPattern pattern() {
    return pattern;
  }

  long roundBytes() {
    return roundBytes;
  }

  int rounds() {
    return rounds;
  }

  int group(int gpus) {
    return group > 0 ? group : pattern.usualGroup(gpus);
  }

  /** Returns the connections that the options describe; rejects invalid options. */
  Traffic traffic(int gpus, long seed, OptionRange range) {
    range.require("--round", roundBytes, 1, MOST_ROUND_BYTES);
    range.require("--rounds", rounds, 1, MOST_ROUNDS);
    int used = group(gpus);
    range.require("--group", used, 2, gpus);
    if (gpus % used != 0) {
      throw range.refusal(
          "--gpus %s is not a multiple of %s GPUs per group: give --group".formatted(gpus, used));
    }
    if (pattern == TrafficPattern.PERMUTATION && used != gpus) {
      throw range.refusal("a permutation is among all GPUs: leave --group out");
    }
    long connections = pattern.connections(gpus, used);
    if (connections > MOST_CONNECTIONS) {
      throw range.refusal(
          String.format(
              Locale.ROOT,
              "%,d connections are more than %,d: a smaller --group",
              connections,
              MOST_CONNECTIONS));
    }
    return pattern.traffic(gpus, used, roundBytes, rounds, seed);
  }
}
