package io.heddle.tools.simulate;

import io.heddle.cli.kit.page.LinePlot;
import io.heddle.cli.kit.page.ReportPage;
import java.util.List;
import java.util.Locale;

/**
 * Report of a long run simulated by flows.
 *
 * @param level level of the simulation
 * @param gpus number of GPUs, each with one card
 * @param planes number of planes of the fabric
 * @param portGbps rate of a port, Gbit/s
 * @param pattern traffic pattern
 * @param group number of GPUs that communicate with each other
 * @param switching method by which a leaf selects spines
 * @param roundBytes bytes that a GPU sends in a round
 * @param rounds number of rounds
 * @param seed seed of the random numbers
 * @param situation description of degraded planes
 * @param policies one result for each policy
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
   * Result of one policy.
   *
   * @param policy policy that determines the planes' shares
   * @param endUs time at which the slowest connection finished all rounds, µs
   * @param epochs consecutive periods with constant rates
   */
  record FlowRun(String policy, double endUs, List<Epoch> epochs) {}

  /**
   * Period of a run in which all rates are constant.
   *
   * @param fromUs start of the period, µs
   * @param toUs end of the period, µs; the last period ends with the slowest connection
   * @param goodputGbps mean goodput of a sending GPU, Gbit/s
   * @param slowestGbps rate of the slowest connection, Gbit/s
   * @param quickestGbps rate of the fastest connection, Gbit/s
   * @param ofIdeal total goodput ÷ total current rate of the sending or the receiving ports,
   *     whichever is smaller
   * @param classes number of classes of connections with equal rates
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

  /** Returns an HTML page with the table and a plot of goodput over the run. */
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
    page.figure("Goodput over the run", level, "Mean of the sending GPUs.", plot.svg());
    return page.html();
  }
}
