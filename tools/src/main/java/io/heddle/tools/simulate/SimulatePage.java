package io.heddle.tools.simulate;

import io.heddle.cli.kit.page.HeatMap;
import io.heddle.cli.kit.page.LinePlot;
import io.heddle.cli.kit.page.ReportPage;
import io.heddle.sim.chunks.ChunkOutcome;
import java.util.List;
import java.util.Locale;

/** HTML page of a simulation: table, message times, goodput over time, and load of links. */
final class SimulatePage {
  private static final double US = 1e3;
  private static final double GIGA = 1e9;

  private SimulatePage() {}

  /**
   * Returns the page.
   *
   * @param senders number of sending GPUs, over which goodput is averaged
   */
  static String html(SimulateReport report, List<ChunkOutcome> outcomes, int senders) {
    ReportPage page =
        new ReportPage(
            String.format(
                Locale.ROOT,
                "%,d GPUs, %s planes, %s: %s",
                report.gpus(),
                report.planes(),
                report.pattern(),
                report.situation()));
    page.table(report.table());
    page.figure(
        "Message times",
        report.level(),
        "Share of all messages that were complete within a time, by policy.",
        times(outcomes).svg());
    page.figure(
        "Goodput over time",
        report.level(),
        "Mean acknowledged bytes of the sending GPUs, by policy. "
            + capitalised(report.situation()),
        goodput(outcomes, senders).svg());
    for (ChunkOutcome each : outcomes) {
      page.figure(
          "Load of links, policy " + each.policy(),
          report.level(),
          String.format(
              Locale.ROOT,
              "Utilisation of each link until the end: %.0f %% in the mean, %.0f %% for the"
                  + " busiest. If there are more links than cells, a cell shows the busiest of"
                  + " several.",
              100 * each.heat().mean(),
              100 * each.heat().most()),
          HeatMap.svg(
              new HeatMap.Labels(
                  "load of links",
                  each.heat().rows(),
                  each.heat().columns(),
                  "idle",
                  "always busy"),
              each.heat().cells()));
    }
    return page.html();
  }

  private static String capitalised(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
  }

  private static LinePlot times(List<ChunkOutcome> outcomes) {
    LinePlot plot = new LinePlot("message time, us", "share of messages", false);
    for (ChunkOutcome each : outcomes) {
      int points = each.messageNs().size();
      double[] x = new double[points];
      double[] y = new double[points];
      for (int i = 0; i < points; i++) {
        x[i] = each.messageNs().get(i) / US;
        y[i] = (i + 1.0) / points;
      }
      plot.add(each.policy(), x, y);
    }
    return plot;
  }

  private static LinePlot goodput(List<ChunkOutcome> outcomes, int senders) {
    LinePlot plot = new LinePlot("time, us", "goodput of a GPU, Gbit/s", false);
    for (ChunkOutcome each : outcomes) {
      /* The last time step is incomplete, so it is left out. */
      int points = Math.max(1, each.seriesBitsPerSecond().size() - 1);
      double[] x = new double[points];
      double[] y = new double[points];
      for (int i = 0; i < points; i++) {
        x[i] = i * each.seriesStepNs() / US;
        y[i] = each.seriesBitsPerSecond().get(i) / GIGA / senders;
      }
      plot.add(each.policy(), x, y);
    }
    return plot;
  }
}
