package io.heddle.tools.simulate;

import io.heddle.cli.kit.page.LinePlot;
import io.heddle.cli.kit.page.ReportPage;
import io.heddle.sim.control.RouteFabric;
import io.heddle.sim.control.SchemeRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Report of the numbers of routes that a fabric's network cards and leaves hold.
 *
 * @param gpus number of GPUs, each with one card
 * @param planes number of planes of the fabric
 * @param leaves number of leaves of a plane
 * @param unreachable number of GPUs that have lost a plane
 * @param peers number of peers of a card
 * @param sample number of cards whose routes are held in the route daemon's real table
 * @param schemes one result for each scheme of announcing routes
 * @param passed whether real tables, counts and formula agree, and no job sends into a lost plane
 */
record ControlPlaneReport(
    int gpus,
    int planes,
    int leaves,
    int unreachable,
    int peers,
    int sample,
    List<SchemeRow> schemes,
    boolean passed) {
  private static final int POINTS = 5;
  private static final double LEAST_GPUS = 10;

  static ControlPlaneReport of(RouteFabric fabric, int sample, List<SchemeRow> rows) {
    return new ControlPlaneReport(
        fabric.hosts(),
        fabric.planes(),
        fabric.leaves(),
        fabric.unreachable(),
        fabric.peers(),
        sample,
        rows,
        rows.stream().allMatch(each -> each.isEqual() && each.avoidsLostPlanes()));
  }

  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%,d GPUs, %s planes of %,d leaves, a card talks to %,d;"
                + " %,d GPUs lose a plane; %s real tables%n%n",
            gpus,
            planes,
            leaves,
            peers,
            unreachable,
            sample));
    text.append(
        "%-24s %12s %12s %12s %12s %10s %10s %12s %9s%n"
            .formatted(
                "routes",
                "arithmetic",
                "of a card",
                "after losses",
                "published",
                "of a leaf",
                "installed",
                "suppressed",
                "loss us"));
    for (SchemeRow each : schemes) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-24s %,12d %,12d %,12d %,12d %,10d %,10d %,12d %9s  %s%n",
              each.scheme(),
              each.arithmetic(),
              each.inTable(),
              each.afterLosses(),
              each.prefixes(),
              each.leafRoutes(),
              each.leafForwarding(),
              each.leafForwardingSuppressed(),
              each.lossUs() == null ? "–" : String.format(Locale.ROOT, "%.1f", each.lossUs()),
              each.isEqual() && each.avoidsLostPlanes() ? "equal" : "NOT EQUAL"));
    }
    return text + (passed ? "PASSED" : "FAILED") + System.lineSeparator();
  }

  /** Returns an HTML page with the table and a plot of a card's routes over the number of GPUs. */
  String html(int gpusPerLeaf) {
    ReportPage page =
        new ReportPage(
            String.format(
                Locale.ROOT, "Routes on a fabric of %,d GPUs and %s planes", gpus, planes));
    page.table(table());
    List<Double> sizes = new ArrayList<>();
    for (int i = 0; i < POINTS; i++) {
      sizes.add(LEAST_GPUS * Math.pow(gpus / LEAST_GPUS, (double) i / (POINTS - 1)));
    }
    double[] x = sizes.stream().mapToDouble(Double::doubleValue).toArray();
    LinePlot plot = new LinePlot("GPUs", "routes of a card", true);
    plot.add("host routes", x, sizes.stream().mapToDouble(each -> each * planes).toArray());
    plot.add(
        "aggregate",
        x,
        sizes.stream().mapToDouble(each -> Math.ceil(each / gpusPerLeaf) * planes).toArray());
    plot.add(
        "prefix ORF",
        x,
        sizes.stream().mapToDouble(each -> Math.min(each, peers) * planes).toArray());
    page.figure(
        "Routes of a card against GPUs",
        "counting",
        "All hosts reachable. The right end is the size of the sample's real tables.",
        plot.svg());
    return page.html();
  }
}
