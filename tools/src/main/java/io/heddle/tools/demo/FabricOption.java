package io.heddle.tools.demo;

import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.LabCommand;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.LabUpCommand;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options that run the demo on a fabric of real routers. */
final class FabricOption {
  /**
   * Depth of the links' queues in ms. One queue can hold all eight messages that the all-reduce
   * keeps outstanding, so no policy suffers losses.
   */
  private static final int QUEUE_MS = 250;

  private static final int HOLD_SECONDS = 9;

  @Option(
      names = "--fabric",
      description =
          "Run over a leaf-spine fabric of real routers, one spine per rate, as root: with weights"
              + " from BGP's path bandwidths, with policy hash for comparison, and with a bandwidth"
              + " that changes during the run. Then --max-bytes is "
              + (MAX_BYTES >> 20)
              + "M and --iterations "
              + ITERATIONS
              + " by default.")
  boolean fabric;

  @Option(
      names = "--rates",
      split = ",",
      paramLabel = "GBPS",
      description = "With --fabric: rate of each spine's links, Gbit/s (0.8,0.4,0.2,0.2).")
  private double @Nullable [] rates;

  @Option(
      names = "--changed-rate",
      defaultValue = "0.2",
      paramLabel = "GBPS",
      description =
          "With --fabric: rate of the first spine after the change, Gbit/s (${DEFAULT-VALUE}).")
  double changedRate;

  /** Default of {@code --max-bytes} on the fabric, which is slower than plain links. */
  static final long MAX_BYTES = 16L << 20;

  static final int ITERATIONS = 5;

  private double[] rates() {
    return rates == null ? new double[] {0.8, 0.4, 0.2, 0.2} : rates;
  }

  /**
   * Returns the plan of the fabric.
   *
   * @throws CommandLine.ParameterException if options are incompatible or out of range
   */
  FabricPlan plan(CommandLine line, int hosts, int mtuBytes) {
    for (String other : List.of("--planes", "--weights", "--policy", "--network")) {
      if (line.getParseResult().hasMatchedOption(other)) {
        throw LabCommand.usage(
            line, other + " can't be combined with --fabric, where --rates and BGP decide");
      }
    }
    double[] given = rates();
    try {
      if (DoubleStream.concat(DoubleStream.of(changedRate), Arrays.stream(given))
          .anyMatch(rate -> !(rate >= 0.001 && rate <= 100))) {
        throw new IllegalArgumentException("each rate must be in 0.001 to 100 Gbit/s");
      }
      return new FabricPlan(
          FabricShape.LEAF_SPINE,
          given.length,
          1,
          2,
          hosts,
          Arrays.stream(given).mapToObj(LabUpCommand::bitsPerSecond).toList(),
          Arrays.stream(given).mapToObj(LabUpCommand::announced).toList(),
          Math.clamp(mtuBytes, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES),
          QUEUE_MS,
          HOLD_SECONDS,
          0,
          false);
    } catch (IllegalArgumentException outOfRange) {
      throw LabCommand.usage(line, "--fabric: " + outOfRange.getMessage());
    }
  }
}
