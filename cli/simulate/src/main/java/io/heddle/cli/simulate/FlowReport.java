package io.heddle.cli.simulate;

import io.heddle.cli.kit.page.LinePlot;
import io.heddle.cli.kit.page.ReportPage;
import java.util.List;
import java.util.Locale;

/**
 * What came of a long run by the second level.
 *
 * @param level which level of the simulation made the figures
 * @param gpus with a card each
 * @param planes of the fabric
 * @param portGbps what a port carries, Gbit/s
 * @param pattern who sends to whom
 * @param group GPUs that talk among themselves
 * @param switching how a leaf chooses the spine
 * @param roundBytes that a GPU sends in a round
 * @param rounds that were simulated
 * @param seed of all chance
 * @param situation what is bad about planes
 * @param policies side by side
 */
record FlowReport(
    String level,
    int gpus,
    int planes,
    double portGbps,
    String pattern,
    int group,
    String switching,
    long roundBytes,
    int rounds,
    long seed,
    String situation,
    List<FlowRun> policies) {
  static final String LEVEL = "flows, with shares by chunks";

  /**
   * One policy's figures.
   *
   * @param policy whose shares planes have
   * @param endUs when the slowest connection is through with all rounds, µs
   * @param epochs one after the other, each with rates of its own
   */
  record FlowRun(String policy, double endUs, List<Epoch> epochs) {}

  /**
   * A time in which nothing changes.
   *
   * @param fromUs when it begins, µs
   * @param toUs when it ends, µs; of the last one, when the slowest connection is through
   * @param goodputGbps of a GPU that sends, in the mean, Gbit/s
   * @param slowestGbps of the slowest connection, Gbit/s
   * @param quickestGbps of the quickest connection, Gbit/s
   * @param ofIdeal goodput ÷ what the ports carry
   * @param classes of connections that are alike
   */
  record Epoch(
      double fromUs,
      double toUs,
      double goodputGbps,
      double slowestGbps,
      double quickestGbps,
      double ofIdeal,
      int classes) {}

  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%,d GPUs, %s planes of %s Gbit/s, %s in groups of %,d, %s%n",
            gpus,
            planes,
            SimulateReport.number(portGbps),
            pattern,
            group,
            situation));
    text.append(
        String.format(
            Locale.ROOT,
            "%,d rounds of %,d B, switches %s, seed %s; by %s%n%n",
            rounds,
            roundBytes,
            switching,
            seed,
            level));
    text.append(
        "%-16s %12s %12s %9s %9s %9s %9s %9s%n"
            .formatted(
                "policy",
                "from us",
                "to us",
                "Gbit/s",
                "slowest",
                "quickest",
                "of ideal",
                "classes"));
    for (FlowRun run : policies) {
      for (Epoch each : run.epochs()) {
        text.append(
            String.format(
                Locale.ROOT,
                "%-16s %12.1f %12.1f %9.1f %9.1f %9.1f %9.3f %,9d%n",
                run.policy(),
                each.fromUs(),
                each.toUs(),
                each.goodputGbps(),
                each.slowestGbps(),
                each.quickestGbps(),
                each.ofIdeal(),
                each.classes()));
      }
    }
    return text.toString();
  }

  /** The table, and goodput over the run. */
  String html() {
    ReportPage page =
        new ReportPage(
            String.format(
                Locale.ROOT, "%,d GPUs, %s planes, %s: %s", gpus, planes, pattern, situation));
    page.table(table());
    LinePlot plot = new LinePlot("time, us", "goodput of a GPU, Gbit/s", false);
    for (FlowRun run : policies) {
      double[] x = new double[2 * run.epochs().size()];
      double[] y = new double[x.length];
      for (int i = 0; i < run.epochs().size(); i++) {
        Epoch each = run.epochs().get(i);
        x[2 * i] = each.fromUs();
        x[2 * i + 1] = each.toUs();
        y[2 * i] = each.goodputGbps();
        y[2 * i + 1] = each.goodputGbps();
      }
      plot.add(run.policy(), x, y);
    }
    page.figure("Goodput over the run", level, "Of a GPU that sends, in the mean.", plot.svg());
    return page.html();
  }
}
