package io.heddle.tools.bench;

import io.heddle.cli.kit.SvgFile;
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

  /** Draws a plot of each measurement that has figures. Returns the plots' files. */
  static List<Path> write(Path folder, List<Outcome> outcomes) {
    List<Path> files = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      switch (outcome.measurement()) {
        case Measurements.PLUGIN ->
            plugin(folder.resolve("bench-bandwidth.svg"), outcome, "MTU 9000", files);
        case Measurements.PLUGIN_1500 ->
            plugin(folder.resolve("bench-bandwidth-1500.svg"), outcome, "MTU 1500", files);
        case Measurements.POLICIES -> policies(folder, outcome, files);
        case Measurements.SCALE -> scale(folder, outcome, files);
        default -> {}
      }
    }
    return files;
  }

  private static void scale(Path folder, Outcome outcome, List<Path> files) {
    scale(
        folder,
        "message",
        "Time of a message of 8 B",
        CostFigures.ScaleCost.MESSAGE,
        outcome,
        files);
    scale(folder, "set-up", "Time to set up", CostFigures.ScaleCost.SET_UP, outcome, files);
    scale(
        folder,
        "memory",
        "Memory growth of a process",
        CostFigures.ScaleCost.MEMORY,
        outcome,
        files);
    scale(
        folder,
        "idle",
        "Share of a processor while idle",
        CostFigures.ScaleCost.IDLE,
        outcome,
        files);
  }

  /*
   * Draws a cost over the number of connections. The outcome's figures have names like "64
   * connections, Heddle: set up".
   */
  private static void scale(
      Path folder,
      String name,
      String title,
      CostFigures.ScaleCost cost,
      Outcome outcome,
      List<Path> files) {
    Map<String, Map<String, Figure>> series = new LinkedHashMap<>();
    for (Figure figure : outcome.figures()) {
      if (figure.name().endsWith(cost.ending())) {
        int comma = figure.name().indexOf(", ");
        String contestant =
            figure.name().substring(comma + 2, figure.name().length() - cost.ending().length());
        series
            .computeIfAbsent(contestant, key -> new LinkedHashMap<>())
            .put(figure.name().substring(0, comma), figure);
      }
    }
    if (!series.isEmpty()) {
      Path file = folder.resolve("bench-scale-" + name + ".svg");
      /*
       * A logarithmic axis is needed for costs whose values spread widely, from one connection to
       * hundreds.
       */
      boolean wide = cost != CostFigures.ScaleCost.IDLE;
      bars(file, title + (wide ? " (logarithmic)" : ""), cost.unit(), series, wide);
      files.add(file);
    }
  }

  /*
   * Draws ratios of bandwidth to TCP's over message sizes. The outcome's figures have names like
   * "bandwidth 1M, 4 planes ÷ TCP".
   */
  private static void plugin(Path file, Outcome outcome, String mtu, List<Path> files) {
    Map<String, Map<String, Figure>> series = new LinkedHashMap<>();
    for (Figure figure : outcome.figures()) {
      String name = figure.name();
      if (name.startsWith("bandwidth ") && name.endsWith(FigureReaders.OVER_TCP)) {
        int comma = name.indexOf(", ");
        String size = name.substring("bandwidth ".length(), comma);
        String role = name.substring(comma + 2, name.length() - FigureReaders.OVER_TCP.length());
        series.computeIfAbsent("Heddle, " + role, key -> new LinkedHashMap<>()).put(size, figure);
      }
    }
    if (series.isEmpty()) {
      return;
    }
    bars(
        file,
        "Goodput by message size ÷ one TCP stream (cubic) on the same link, " + mtu,
        "÷ TCP",
        series,
        false);
    files.add(file);
  }

  private static void policies(Path folder, Outcome outcome, List<Path> files) {
    policies(
        folder.resolve("bench-policies.svg"),
        "Goodput ÷ ideal over four planes of a shaped fabric, by policy",
        "÷ ideal",
        FigureReaders.OVER_IDEAL,
        outcome,
        files);
    policies(
        folder.resolve("bench-policies-p99.svg"),
        "Message time, 99th percentile, 8 messages of 1 MiB in flight",
        "ms",
        FigureReaders.MESSAGE_P99,
        outcome,
        files);
  }

  /*
   * Draws a group of bars for each situation. The outcome's figures have names like "bursts, spray
   * ÷ ideal".
   */
  private static void policies(
      Path file, String title, String unit, String ending, Outcome outcome, List<Path> files) {
    Map<String, Map<String, Figure>> series = new LinkedHashMap<>();
    for (Figure figure : outcome.figures()) {
      String name = figure.name();
      if (name.endsWith(ending)) {
        int comma = name.indexOf(", ");
        String policy = name.substring(comma + 2, name.length() - ending.length());
        series
            .computeIfAbsent(policy, key -> new LinkedHashMap<>())
            .put(name.substring(0, comma), figure);
      }
    }
    if (!series.isEmpty()) {
      bars(file, title, unit, series, false);
      files.add(file);
    }
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

  /** Draws grouped bars. Error bars, where present, extend from the minimum to the maximum. */
  static void bars(
      Path file,
      String title,
      String unit,
      Map<String, Map<String, Figure>> bySeries,
      boolean logarithmic) {
    Set<String> groups = new LinkedHashSet<>();
    bySeries.values().forEach(each -> groups.addAll(each.keySet()));
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .yAxisTitle(unit)
            .build();
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setPlotBorderVisible(false);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    double floor = logarithmic ? decadeOfLeast(bySeries) : 0;
    chart.getStyler().setYAxisLogarithmic(logarithmic);
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
      chart.addSeries(name, List.copyOf(groups), medians, logarithmic ? null : spreads);
    });
    SvgFile.write(file, chart, WIDTH, HEIGHT);
  }
}
