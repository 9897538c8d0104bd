package io.heddle.tools.bench.contest;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Table of a measurement's results: a row for each contestant at each step, a column for each
 * quantity, and then the derived figures with their bounds.
 */
final class ResultTable {
  private static final String GAP = "  ";
  private final StringBuilder text = new StringBuilder();

  ResultTable(String title, Results results, List<Figure> derived) {
    line("# heddle %s: %s", results.measurement(), title);
    line(
        "# %s, load %.1f to %.1f",
        results.machine().text(), results.load().getFirst(), results.load().getLast());
    if (!results.settings().isEmpty()) {
      line(
          "# %s",
          results.settings().entrySet().stream()
              .map(each -> each.getKey() + ": " + each.getValue())
              .collect(Collectors.joining(", ")));
    }
    results.remarks().forEach(each -> line("# %s", each));
    line("# median of %d rounds in turns (least to most)", results.rounds());
    sections(results.series());
    if (!derived.isEmpty()) {
      line("#");
      addRows(derived.stream().map(ResultTable::cells).toList());
    }
  }

  private static List<String> cells(Figure each) {
    Bound bound = each.bound();
    return bound == null
        ? List.of(" ", each.name(), each.text())
        : List.of(
            " ",
            each.name(),
            each.text(),
            bound.text(),
            bound.holds(each.median()) ? "met" : "MISSED");
  }

  /* Adds a section for all rows that have quantities in common. */
  private void sections(List<Results.Series> series) {
    Map<String, Map<String, Results.Series>> rows = new LinkedHashMap<>();
    series.forEach(each ->
        rows.computeIfAbsent(each.step() + "\n" + each.contestant(), key -> new LinkedHashMap<>())
            .put(each.quantity(), each));
    List<Map<String, Results.Series>> left = new ArrayList<>(rows.values());
    while (!left.isEmpty()) {
      List<String> quantities = new ArrayList<>(left.getFirst().keySet());
      List<Map<String, Results.Series>> section = new ArrayList<>();
      for (Map<String, Results.Series> row : left) {
        if (row.keySet().stream().anyMatch(quantities::contains)) {
          section.add(row);
          row.keySet().stream().filter(each -> !quantities.contains(each)).forEach(quantities::add);
        }
      }
      left.removeAll(section);
      section(quantities, section);
    }
  }

  private void section(List<String> quantities, List<Map<String, Results.Series>> section) {
    List<List<String>> cells = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("#", "", ""));
    quantities.forEach(each -> head.add(each.replaceFirst("^[,:]? *", "")));
    cells.add(head);
    for (Map<String, Results.Series> row : section) {
      Results.Series first = row.values().iterator().next();
      List<String> line = new ArrayList<>(List.of(" ", first.step(), first.contestant()));
      for (String quantity : quantities) {
        Results.Series found = row.get(quantity);
        line.add(found == null ? "" : found.figure().text());
      }
      cells.add(line);
    }
    line("#");
    addRows(cells);
  }

  /* Adds rows whose columns are as wide as their widest cell. */
  private void addRows(List<List<String>> rows) {
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder(row.getFirst()).append(' ');
      for (int column = 1; column < row.size(); column++) {
        int own = column;
        int width =
            rows.stream()
                .mapToInt(each -> own < each.size() ? each.get(own).length() : 0)
                .max()
                .orElse(0);
        line.append(String.format(Locale.ROOT, "%-" + Math.max(1, width) + "s", row.get(column)));
        line.append(GAP);
      }
      line("%s", line);
    }
  }

  private void line(String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
