package io.heddle.sim.chunks;

import io.heddle.sim.links.ClosFabric;
import io.heddle.sim.links.LinkQueues;
import java.util.ArrayList;
import java.util.List;

/**
 * Utilisation of links, as shares of their capacity. There is one row per leaf of each plane, and
 * one column per spine. In a fabric without spines there is one row per plane, and one column per
 * GPU port. If there are too many rows or columns, a cell shows the busiest of several links.
 *
 * @param rows meaning of a row
 * @param columns meaning of a column
 * @param cells utilisation by row and column, 0 to 1
 * @param mean mean utilisation of all these links
 * @param most utilisation of the busiest of these links
 */
public record LinkHeat(
    String rows, String columns, List<List<Double>> cells, double mean, double most) {
  private static final int MOST_CELLS = 64;

  static LinkHeat of(ClosFabric fabric, LinkQueues links, long untilNs) {
    boolean isTiered = fabric.spines() > 0;
    int rows = fabric.planes() * (isTiered ? fabric.leaves() : 1);
    int columns = isTiered ? fabric.spines() : fabric.gpus();
    int rowsOfCell = (rows + MOST_CELLS - 1) / MOST_CELLS;
    int columnsOfCell = (columns + MOST_CELLS - 1) / MOST_CELLS;
    double[][] most = new double[(rows + rowsOfCell - 1) / rowsOfCell][];
    double sum = 0;
    double busiest = 0;
    for (int row = 0; row < rows; row++) {
      if (row % rowsOfCell == 0) {
        most[row / rowsOfCell] = new double[(columns + columnsOfCell - 1) / columnsOfCell];
      }
      for (int column = 0; column < columns; column++) {
        int link =
            isTiered
                ? fabric.toSpine(row / fabric.leaves(), row % fabric.leaves(), column)
                : fabric.down(row, column);
        double possible = links.capacityBytes(link, untilNs);
        double share = possible > 0 ? links.carriedBytes(link) / possible : 0;
        double[] cells = most[row / rowsOfCell];
        cells[column / columnsOfCell] = Math.max(cells[column / columnsOfCell], share);
        sum += share;
        busiest = Math.max(busiest, share);
      }
    }
    List<List<Double>> cells = new ArrayList<>();
    for (double[] row : most) {
      List<Double> made = new ArrayList<>();
      for (double each : row) {
        made.add(each);
      }
      cells.add(made);
    }
    return new LinkHeat(
        isTiered ? "leaf, by plane" : "plane",
        isTiered ? "spine" : "GPU",
        cells,
        sum / ((double) rows * columns),
        busiest);
  }
}
