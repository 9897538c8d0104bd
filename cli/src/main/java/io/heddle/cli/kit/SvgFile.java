package io.heddle.cli.kit;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.awt.Dimension;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.internal.chartpart.Chart;

/** Writer of charts as SVG files. */
public final class SvgFile {
  private SvgFile() {}

  /**
   * Writes a chart.
   *
   * @throws HeddleException if this Java can't draw, or the file can't be written
   */
  public static void write(Path file, Chart<?, ?> chart, int width, int height) {
    System.setProperty("java.awt.headless", "true");
    try (Writer writer = Files.newBufferedWriter(file)) {
      SVGGraphics2D graphics =
          new SVGGraphics2D(
              DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument());
      graphics.setSVGCanvasSize(new Dimension(width, height));
      chart.paint(graphics, width, height);
      graphics.stream(writer, true);
    } catch (IOException failed) {
      throw new HeddleException("can't write " + file + ": " + FileFailure.reason(failed), failed);
    } catch (ParserConfigurationException
        | LinkageError
        | InternalError
        | RuntimeException noFonts) {
      /* Java lacks the desktop module's libraries, or the host has no font. */
      throw new HeddleException("this Java can't draw the plot: " + noFonts, noFonts);
    }
  }
}
