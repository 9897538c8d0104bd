package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.OptionRange;
import picocli.CommandLine.Option;

/** Option for the number of rounds. */
final class RoundsOption {
  private static final int MOST = 1_000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  /**
   * Creates the option.
   *
   * @param usual default value
   */
  RoundsOption(int usual) {
    rounds = usual;
  }

  /** Returns the number of rounds, if it is allowed. */
  int required(OptionRange range) {
    range.require("--rounds", rounds, 1, MOST);
    return rounds;
  }
}
