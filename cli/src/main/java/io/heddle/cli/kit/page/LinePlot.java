package io.heddle.cli.kit.page;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** Plot of lines over two axes, linear or logarithmic, with a legend. */
public final class LinePlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 340;
  private static final int LEFT = 76;
  private static final int RIGHT = 32;
  private static final int TOP = 34;
  private static final int BOTTOM = 52;
  private static final int LETTER = 8;
  private static final int SWATCH = 30;

  /* Okabe and Ito's palette, distinguishable with most colour vision. */
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9");

  private record Line(String name, double[] x, double[] y) {}

  private record Band(String name, double[] x, double[] low, double[] high) {}

  private final String xLabel;
  private final String yLabel;
  private final boolean isLog;
  private final List<Line> lines = new ArrayList<>();
  private @Nullable Band band;

  /**
   * Creates a plot without lines.
   *
   * @param isLog whether both axes are logarithmic
   */
  public LinePlot(String xLabel, String yLabel, boolean isLog) {
    this.xLabel = xLabel;
    this.yLabel = yLabel;
    this.isLog = isLog;
  }

  /**
   * Adds a line.
   *
   * @param x values of the horizontal axis, as many as of y
   */
  public LinePlot add(String name, double[] x, double[] y) {
    lines.add(new Line(name, x.clone(), y.clone()));
    return this;
  }

  /**
   * Sets the shaded band between two curves, behind the lines. A plot has at most one band.
   *
   * @param x values of the horizontal axis, as many as of low and high
   */
  public LinePlot band(String name, double[] x, double[] low, double[] high) {
    band = new Band(name, x.clone(), low.clone(), high.clone());
    return this;
  }

  /** Returns the plot as an SVG picture. */
  public String svg() {
    Axis across = Axis.over(xLabel, isLog, all(true));
    Axis up = Axis.over(yLabel, isLog, all(false));
    Svg svg = new Svg(WIDTH, HEIGHT, yLabel + " over " + xLabel);
    String grid = "stroke=\"currentColor\" stroke-opacity=\"0.18\"";
    for (double mark : across.marks()) {
      double at = x(across, mark);
      svg.line(at, TOP, at, HEIGHT - BOTTOM, grid);
      svg.text(at, HEIGHT - BOTTOM + 18.0, "middle", Axis.text(mark));
    }
    for (double mark : up.marks()) {
      double at = y(up, mark);
      svg.line(LEFT, at, WIDTH - RIGHT, at, grid);
      svg.text(LEFT - 8.0, at + 4, "end", Axis.text(mark));
    }
    svg.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0, "middle", xLabel);
    svg.verticalText(14, (TOP + HEIGHT - BOTTOM) / 2.0, yLabel);
    double legend = LEFT;
    if (band != null) {
      svg.area(outline(band, across, up));
      svg.swatch(legend, 11);
      svg.text(legend + 26, 20, "start", band.name());
      legend += SWATCH + 20 + LETTER * band.name().length();
    }
    for (int i = 0; i < lines.size(); i++) {
      Line line = lines.get(i);
      String colour = COLOURS.get(i % COLOURS.size());
      StringBuilder points = new StringBuilder();
      for (int at = 0; at < line.x().length; at++) {
        addPoint(points, x(across, line.x()[at]), y(up, line.y()[at]));
      }
      svg.path(points, colour);
      svg.line(legend, 16, legend + 20, 16, "stroke=\"" + colour + "\" stroke-width=\"3\"");
      svg.text(legend + 26, 20, "start", line.name());
      legend += SWATCH + 20 + LETTER * line.name().length();
    }
    return svg.end();
  }

  private static StringBuilder outline(Band band, Axis across, Axis up) {
    StringBuilder points = new StringBuilder();
    int last = band.x().length - 1;
    for (int i = 0; i <= last; i++) {
      addPoint(points, x(across, band.x()[i]), y(up, band.high()[i]));
    }
    for (int i = last; i >= 0; i--) {
      addPoint(points, x(across, band.x()[i]), y(up, band.low()[i]));
    }
    return points;
  }

  private static void addPoint(StringBuilder points, double x, double y) {
    points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
  }

  private double[] all(boolean isAcross) {
    DoubleStream ofLines =
        lines.stream().flatMapToDouble(line -> Arrays.stream(isAcross ? line.x() : line.y()));
    DoubleStream ofBand =
        band == null ? DoubleStream.empty() : Arrays.stream(isAcross ? band.x() : band.high());
    return DoubleStream.concat(ofLines, ofBand).toArray();
  }

  private static double x(Axis axis, double value) {
    return LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT);
  }

  private static double y(Axis axis, double value) {
    return HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM);
  }
}
