package io.heddle.cli.kit.page;

import java.util.Locale;

/** Self-contained HTML page: it loads no script, font or picture from elsewhere. */
public final class ReportPage {
  private static final String HEAD =
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>%s</title>
      <style>
      :root { color-scheme: light dark; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 960px; margin: 0 auto; padding: 1rem; }
      h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 0; }
      figure { margin: .5rem 0; } figcaption { font-size: .9rem; opacity: .8; }
      svg { width: 100%%; height: auto; } svg text { font-size: 13px; fill: currentColor; }
      pre { overflow-x: auto; font-size: .75rem; line-height: 1.35; }
      </style>
      </head>
      <body>
      <h1>%s</h1>
      """;

  private final StringBuilder text = new StringBuilder();

  public ReportPage(String title) {
    String escaped = Svg.escape(title);
    text.append(String.format(Locale.ROOT, HEAD, escaped, escaped));
  }

  /** Adds a text table, in a font of fixed width. */
  public void table(String table) {
    text.append("<pre>").append(Svg.escape(table)).append("</pre>\n");
  }

  /**
   * Adds a picture.
   *
   * @param level source of the data, such as a level of the simulation, for the caption
   * @param svg the picture
   */
  public void figure(String title, String level, String caption, String svg) {
    text.append("<h2>").append(Svg.escape(title)).append("</h2>\n<figure>\n").append(svg);
    text.append("<figcaption>")
        .append(Svg.escape(caption + " Made by: " + level + "."))
        .append("</figcaption>\n</figure>\n");
  }

  /** Returns the whole page as HTML. */
  public String html() {
    return text + "</body>\n</html>\n";
  }
}
