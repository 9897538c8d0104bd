package io.heddle.tools.bench.contest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Table whose columns are as wide as their widest cell. A row with one cell is a line across all
 * columns.
 */
public final class TextTable {
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a row. A row with one cell doesn't affect the widths of the columns. */
  public void add(String... cells) {
    rows.add(List.of(cells));
  }

  @Override
  public String toString() {
    Map<Integer, Integer> widths = new HashMap<>();
    rows.stream()
        .filter(row -> row.size() > 1)
        .forEach(row -> {
          for (int column = 0; column < row.size(); column++) {
            widths.merge(column, row.get(column).length(), Math::max);
          }
        });
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = row.get(column);
        int width = row.size() == 1 ? 0 : widths.getOrDefault(column, 0);
        line.append(cell).append(" ".repeat(Math.max(0, width - cell.length()) + 2));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
