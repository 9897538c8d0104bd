package io.heddle.tools.simulate;

import io.heddle.cli.kit.OptionRange;
import io.heddle.sim.control.ControlPlane;
import io.heddle.sim.control.RouteFabric;
import io.heddle.sim.links.ClosFabric;
import picocli.CommandLine.Option;

/** Options of {@code --control-plane}, which counts routes. */
final class ControlPlaneOptions {
  private static final int MOST_ROUTES = 20_000_000;
  private static final int MOST_PEERS = 10_000;
  private static final int MOST_SAMPLE = 100;
  private static final int MOST_GBPS = 65_535;

  @Option(
      names = "--control-plane",
      description =
          "Count the routes of cards and leaves instead; a few cards have the route daemon's real"
              + " table.")
  private boolean requested;

  @Option(
      names = "--unreachable",
      paramLabel = "N",
      defaultValue = "100",
      description =
          "With --control-plane: number of GPUs that lose a plane, at most all (${DEFAULT-VALUE}).")
  private int unreachable;

  @Option(
      names = "--peers",
      paramLabel = "N",
      defaultValue = "16",
      description = "Number of peers of each GPU, for prefix ORF, at most all (${DEFAULT-VALUE}).")
  private int peers;

  @Option(
      names = "--sample",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of cards with a real table (${DEFAULT-VALUE}).")
  private int sample;

  boolean isRequested() {
    return requested;
  }

  ControlPlaneReport run(ClosFabric fabric, double portGbps, OptionRange range, Estimate estimate) {
    range.require("--unreachable", unreachable, 0, MOST_ROUTES);
    range.require("--peers", peers, 1, MOST_PEERS);
    range.require("--sample", sample, 1, Math.min(MOST_SAMPLE, fabric.gpus()));
    if ((long) fabric.gpus() * fabric.planes() > MOST_ROUTES) {
      throw range.refusal(
          "%s routes of a card are more than %s: fewer --gpus or --planes"
              .formatted((long) fabric.gpus() * fabric.planes(), MOST_ROUTES));
    }
    RouteFabric routes =
        new RouteFabric(
            fabric.gpus(),
            fabric.planes(),
            fabric.gpusPerLeaf(),
            Math.min(unreachable, fabric.gpus()),
            Math.min(peers, fabric.gpus() - 1),
            Math.clamp(Math.round(portGbps), 1, MOST_GBPS));
    return ControlPlaneReport.of(
        routes,
        sample,
        new ControlPlane(routes, sample).run(part -> estimate.update("filling tables", part)));
  }
}
