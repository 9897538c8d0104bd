package io.heddle.tools.job;

import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.OptionRange;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options for the sizes of all-reduces and their iterations. */
public final class SizesOption {
  private static final long LARGEST_SIZE = 1L << 31;
  private static final int FLOAT_BYTES = 4;

  @Option(
      names = "--min-bytes",
      paramLabel = "BYTES",
      defaultValue = "8",
      converter = ByteSize.class,
      description = "Smallest size, a multiple of 4 (${DEFAULT-VALUE}).")
  private long minBytes;

  @Option(
      names = "--max-bytes",
      paramLabel = "BYTES",
      defaultValue = "64M",
      converter = ByteSize.class,
      description = "Largest size; sizes double (${DEFAULT-VALUE}).")
  private long maxBytes;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      defaultValue = "20",
      description = "All-reduces per size (${DEFAULT-VALUE}).")
  private int iterations;

  public void require(OptionRange range) {
    range.require("--iterations", iterations, 1, 1_000_000);
    range.require("--min-bytes", minBytes, FLOAT_BYTES, LARGEST_SIZE);
    range.require("--max-bytes", maxBytes, minBytes, LARGEST_SIZE);
    if (minBytes % FLOAT_BYTES != 0) {
      throw range.refusal(
          "--min-bytes "
              + minBytes
              + " is not a multiple of "
              + FLOAT_BYTES
              + ", the size of a float");
    }
  }

  /** Sets other defaults for the options that weren't given on the command line. */
  public void setDefaults(
      CommandLine.ParseResult given, long defaultMaxBytes, int defaultIterations) {
    if (!given.hasMatchedOption("--max-bytes")) {
      maxBytes = Math.max(minBytes, defaultMaxBytes);
    }
    if (!given.hasMatchedOption("--iterations")) {
      iterations = defaultIterations;
    }
  }

  public AllReducePlan.Sizes within(long timeoutSeconds) {
    return new AllReducePlan.Sizes(minBytes, maxBytes, iterations, timeoutSeconds);
  }
}
