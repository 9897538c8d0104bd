package io.heddle.tools.simulate;

import io.heddle.cli.kit.OptionRange;
import io.heddle.sim.links.ClosFabric;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Options for the simulated fabric. */
final class FabricOptions {
  private static final int MOST_GPUS = 1_000_000;
  private static final int MOST_PLANES = 64;
  private static final int MOST_LEAF = 4_096;
  private static final long MOST_LINKS = 1 << 26;
  private static final double GIGA = 1e9;
  private static final int MOST_GBPS = 10_000;
  private static final int MOST_HOP_NS = 1_000_000;

  @Option(
      names = "--gpus",
      paramLabel = "N",
      defaultValue = "1024",
      description =
          "Number of GPUs, each with a card that has a port in every plane (${DEFAULT-VALUE}).")
  private int gpus;

  @Option(
      names = "--planes",
      paramLabel = "K",
      defaultValue = "4",
      description = "Planes of the fabric (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--rate",
      paramLabel = "GBPS",
      defaultValue = "100",
      description = "Rate of each port and each link, Gbit/s (${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--leaf",
      paramLabel = "N",
      defaultValue = "64",
      description = "GPUs per leaf, in each plane (${DEFAULT-VALUE}).")
  private int leaf;

  @Option(
      names = "--spines",
      paramLabel = "N",
      description = "Spines of a plane (as many as GPUs per leaf).")
  private int spines;

  @Option(
      names = "--hop",
      paramLabel = "NS",
      defaultValue = "500",
      description = "Latency from one link to the next, nanoseconds (${DEFAULT-VALUE}).")
  private int hopNs;

  int gpus() {
    return gpus;
  }

  int planes() {
    return planes;
  }

  double rateGbps() {
    return rate;
  }

  /** Returns the fabric that the options describe; rejects invalid options. */
  ClosFabric fabric(OptionRange range) {
    range.require("--gpus", gpus, 2, MOST_GPUS);
    range.require("--planes", planes, 1, MOST_PLANES);
    range.require("--rate in Mbit/s", (long) (rate * 1_000), 1, MOST_GBPS * 1_000L);
    range.require("--leaf", leaf, 1, MOST_LEAF);
    range.require("--spines", spines, 0, MOST_LEAF);
    range.require("--hop", hopNs, 0, MOST_HOP_NS);
    int used = leaf >= gpus ? 0 : spines > 0 ? spines : leaf;
    long leaves = (gpus + leaf - 1L) / leaf;
    long links = planes * (2L * gpus + 2 * leaves * used);
    if (links > MOST_LINKS) {
      throw range.refusal(
          String.format(
              Locale.ROOT,
              "%,d links are more than %,d: fewer --gpus, --planes or --spines, or a larger --leaf",
              links,
              MOST_LINKS));
    }
    return new ClosFabric(gpus, planes, leaf, used, rate * GIGA, rate * GIGA, hopNs);
  }
}
