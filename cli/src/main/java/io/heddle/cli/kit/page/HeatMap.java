package io.heddle.cli.kit.page;

import java.util.List;
import java.util.Locale;

/** Picture of a table of shares, with a colour for each cell: light for 0, dark for 1. */
public final class HeatMap {
  private static final int WIDTH = 720;
  private static final int LEFT = 40;
  private static final int TOP = 8;
  private static final int BOTTOM = 40;
  private static final int MOST_HEIGHT = 420;
  private static final int SCALE = 120;

  /*
   * Colours of viridis, from yellow for 0 over green to dark violet for 1; they are distinguishable
   * in grey too.
   */
  private static final int[][] COLOURS = {
    {253, 231, 37}, {122, 209, 81}, {34, 168, 132}, {42, 120, 142}, {65, 68, 135}, {68, 1, 84}
  };

  private HeatMap() {}

  /**
   * Labels of a picture.
   *
   * @param name name of the picture
   * @param rows meaning of a row
   * @param columns meaning of a column
   * @param none label of the colour of 0
   * @param all label of the colour of 1
   */
  public record Labels(String name, String rows, String columns, String none, String all) {}

  /**
   * Returns the picture as SVG.
   *
   * @param cells shares by row and column, 0 to 1
   */
  public static String svg(Labels words, List<List<Double>> cells) {
    int across = cells.getFirst().size();
    double size = Math.min((double) (WIDTH - LEFT) / across, (double) MOST_HEIGHT / cells.size());
    double height = Math.max(size, 6) * cells.size();
    Svg svg = new Svg(WIDTH, (int) Math.ceil(TOP + height + BOTTOM), words.name());
    double wide = (double) (WIDTH - LEFT) / across;
    double tall = height / cells.size();
    for (int row = 0; row < cells.size(); row++) {
      for (int column = 0; column < across; column++) {
        double share = cells.get(row).get(column);
        svg.rectangle(
            LEFT + column * wide,
            TOP + row * tall,
            wide,
            tall,
            colour(share),
            String.format(
                Locale.ROOT,
                "%s %d, %s %d: %.0f %%",
                words.rows(),
                row,
                words.columns(),
                column,
                100 * share));
      }
    }
    svg.text(LEFT + (WIDTH - LEFT - SCALE) / 2.0, TOP + height + 24, "middle", words.columns());
    svg.verticalText(16, TOP + height / 2, words.rows());
    for (int i = 0; i < SCALE; i++) {
      double share = (double) i / SCALE;
      svg.rectangle(WIDTH - SCALE + i, TOP + height + 8, 1, 10, colour(share), "scale");
    }
    svg.text(WIDTH - SCALE, TOP + height + 32, "start", words.none());
    svg.text(WIDTH, TOP + height + 32, "end", words.all());
    return svg.end();
  }

  private static String colour(double share) {
    double at = Math.clamp(share, 0, 1) * (COLOURS.length - 1);
    int below = (int) Math.min(at, COLOURS.length - 2);
    double part = at - below;
    int[] mixed = new int[3];
    for (int i = 0; i < mixed.length; i++) {
      mixed[i] = (int) Math.round(COLOURS[below][i] * (1 - part) + COLOURS[below + 1][i] * part);
    }
    return String.format(Locale.ROOT, "#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
  }
}
