package io.heddle.tools.bench;

import io.heddle.cli.kit.SvgFile;
import io.heddle.tools.bench.contest.Figure;
import java.awt.Color;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler;

/** Writer of plots of the recorded figures, as SVG files. */
final class BenchPlots {
  private static final int WIDTH = 900;
  private static final int HEIGHT = 360;
  private static final int MOST_LEVEL_LABELS = 8;

  private BenchPlots() {}

  /**
   * Plot with a group of bars for each step, and a bar for each contestant in it. It shows the
   * figures whose names consist of {@code begin}, a step, a comma, a contestant and {@code end}.
   *
   * @param isWide whether the values spread so widely that the axis must be logarithmic
   */
  private record Plot(
      String measurement,
      String file,
      String title,
      String unit,
      String begin,
      String end,
      boolean isWide) {}

  private static final String BANDWIDTH =
      "Goodput by message size ÷ one TCP stream (cubic) on the same link, ";

  private static final List<Plot> PLOTS =
      List.of(
          bandwidth("plugin", "bandwidth", "MTU 9000"),
          bandwidth("plugin-1500", "bandwidth-1500", "MTU 1500"),
          new Plot(
              "policies",
              "policies",
              "Goodput ÷ ideal over four planes of a shaped fabric, by policy",
              "÷ ideal",
              "",
              " ÷ ideal",
              false),
          new Plot(
              "policies",
              "policies-p99",
              "Message time, 99th percentile, 8 messages of 1 MiB in flight",
              "ms",
              "",
              ", message p99",
              false),
          scale("message", "Time of a message of 8 B", "us", ": a message", true),
          scale("set-up", "Time to set up", "s", ": set up", true),
          scale("memory", "Memory growth of a process", "MiB", ": memory more than without", true),
          scale("idle", "Share of a processor while idle", "%", ": a processor while idle", false));

  private static Plot bandwidth(String measurement, String file, String mtu) {
    return new Plot(measurement, file, BANDWIDTH + mtu, "÷ TCP", "bandwidth ", " ÷ TCP", false);
  }

  private static Plot scale(String file, String title, String unit, String end, boolean wide) {
    String shown = wide ? title + " (logarithmic)" : title;
    return new Plot("scale", "scale-" + file, shown, unit, "", end, wide);
  }

  /** Draws a plot of each measurement that has figures. Returns the plots' files. */
  static List<Path> write(Path folder, List<Outcome> outcomes) {
    List<Path> files = new ArrayList<>();
    for (Plot plot : PLOTS) {
      Map<String, Map<String, Figure>> series = new LinkedHashMap<>();
      outcomes.stream()
          .filter(each -> each.measurement().equals(plot.measurement()))
          .flatMap(each -> each.figures().stream())
          .filter(each -> each.name().startsWith(plot.begin()) && each.name().endsWith(plot.end()))
          .forEach(each -> {
            String name = each.name();
            int comma = name.indexOf(", ");
            series
                .computeIfAbsent(
                    name.substring(comma + 2, name.length() - plot.end().length()),
                    key -> new LinkedHashMap<>())
                .put(name.substring(plot.begin().length(), comma), each);
          });
      if (!series.isEmpty()) {
        Path file = folder.resolve("bench-" + plot.file() + ".svg");
        bars(file, plot, series);
        files.add(file);
      }
    }
    return files;
  }

  /*
   * Returns the greatest power of ten that doesn't exceed any positive median. It is the baseline
   * of bars on a logarithmic axis.
   */
  private static double decadeOfLeast(Map<String, Map<String, Figure>> bySeries) {
    double least =
        bySeries.values().stream()
            .flatMap(figures -> figures.values().stream())
            .mapToDouble(Figure::median)
            .filter(each -> each > 0)
            .min()
            .orElse(1);
    return Math.pow(10, Math.floor(Math.log10(least)));
  }

  /* Draws grouped bars. Error bars, where present, extend from the minimum to the maximum. */
  private static void bars(Path file, Plot plot, Map<String, Map<String, Figure>> bySeries) {
    Set<String> groups = new LinkedHashSet<>();
    bySeries.values().forEach(each -> groups.addAll(each.keySet()));
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(plot.title())
            .yAxisTitle(plot.unit())
            .build();
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setPlotBorderVisible(false);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    double floor = plot.isWide() ? decadeOfLeast(bySeries) : 0;
    chart.getStyler().setYAxisLogarithmic(plot.isWide());
    chart.getStyler().setYAxisMin(floor);
    chart.getStyler().setXAxisLabelRotation(groups.size() > MOST_LEVEL_LABELS ? 45 : 0);
    chart.getStyler().setAvailableSpaceFill(0.8);
    bySeries.forEach((name, figures) -> {
      List<Double> medians = new ArrayList<>();
      List<Double> spreads = new ArrayList<>();
      for (String group : groups) {
        @Nullable Figure figure = figures.get(group);
        medians.add(Math.max(floor, figure == null ? 0 : figure.median()));
        spreads.add(figure == null ? 0 : (figure.most() - figure.least()) / 2);
      }
      /* Error bars are symmetric, which would be wrong on a logarithmic axis. */
      chart.addSeries(name, List.copyOf(groups), medians, plot.isWide() ? null : spreads);
    });
    SvgFile.write(file, chart, WIDTH, HEIGHT);
  }
}
