package io.heddle.cli.kit.page;

import java.util.Locale;

/**
 * Builder of an SVG picture. The picture scales with the width of the page and uses the page's text
 * colour.
 */
final class Svg {
  private static final String FAINT = "0.15";

  private final StringBuilder text = new StringBuilder();

  Svg(int width, int height, String name) {
    add(
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\""
            + " xmlns=\"http://www.w3.org/2000/svg\">%n",
        width, height, escape(name));
  }

  private void add(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values));
  }

  void line(double x1, double y1, double x2, double y2, String style) {
    add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>%n", x1, y1, x2, y2, style);
  }

  void rectangle(double x, double y, double width, double height, String fill, String title) {
    add(
        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\">",
        x, y, width, height, fill);
    add("<title>%s</title></rect>%n", escape(title));
  }

  void path(StringBuilder points, String colour) {
    add(
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>%n",
        colour, points);
  }

  /** Adds a faint polygon over these points. */
  void area(StringBuilder points) {
    add("<polygon fill=\"currentColor\" fill-opacity=\"%s\" points=\"%s\"/>%n", FAINT, points);
  }

  /** Adds a rectangle in the colour of an area, for a legend. */
  void swatch(double x, double y) {
    add(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"10\" fill=\"currentColor\""
            + " fill-opacity=\"%s\"/>%n",
        x, y, FAINT);
  }

  /**
   * Adds text.
   *
   * @param anchor start, middle or end
   */
  void text(double x, double y, String anchor, String words) {
    add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, escape(words));
  }

  void verticalText(double x, double y, String words) {
    add(
        "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>%n",
        x, y, escape(words));
  }

  String end() {
    return text + "</svg>\n";
  }

  /** Returns text escaped for HTML and SVG. */
  static String escape(String words) {
    return words
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
