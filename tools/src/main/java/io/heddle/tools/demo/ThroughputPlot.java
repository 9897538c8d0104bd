package io.heddle.tools.demo;

import io.heddle.cli.kit.SvgFile;
import java.awt.BasicStroke;
import java.awt.Color;
import java.nio.file.Path;
import java.util.List;
import org.knowm.xchart.AnnotationLine;
import org.knowm.xchart.AnnotationText;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Writer of a plot of throughput over time, as an SVG file. */
final class ThroughputPlot {
  private static final int WIDTH = 960;
  private static final int HEIGHT = 420;

  private ThroughputPlot() {}

  /** Writes the plot; see {@link SvgFile#write}. */
  static void write(
      Path file, String title, ThroughputCurve curve, List<ThroughputCurve.Mark> marks) {
    SvgFile.write(file, chart(title, curve, marks), WIDTH, HEIGHT);
  }

  private static XYChart chart(
      String title, ThroughputCurve curve, List<ThroughputCurve.Mark> marks) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("seconds since the first bytes")
            .yAxisTitle("MB/s sent, all ranks")
            .build();
    chart.getStyler().setMarkerSize(0);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setXAxisDecimalPattern("0.0");
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    XYSeries all = chart.addSeries("all planes", curve.seconds(), curve.total());
    all.setMarker(SeriesMarkers.NONE);
    all.setLineColor(Color.BLACK);
    all.setLineStyle(new BasicStroke(2.5f));
    for (int plane = 0; plane < curve.byPlane().size(); plane++) {
      XYSeries one =
          chart.addSeries("plane " + (plane + 1), curve.seconds(), curve.byPlane().get(plane));
      one.setMarker(SeriesMarkers.NONE);
    }
    double top = curve.total().stream().mapToDouble(Double::doubleValue).max().orElse(1);
    for (ThroughputCurve.Mark mark : marks) {
      chart.addAnnotation(new AnnotationLine(mark.seconds(), true, false));
      chart.addAnnotation(new AnnotationText(mark.text(), mark.seconds(), top * 1.03, false));
    }
    return chart;
  }
}
