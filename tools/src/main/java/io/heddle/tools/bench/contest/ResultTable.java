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
    addSections(results.series());
    if (!derived.isEmpty()) {
      TextTable table = new TextTable();
      table.add("#");
      for (Figure each : derived) {
        Bound bound = each.bound();
        if (bound == null) {
          table.add("  " + each.name(), each.text());
        } else {
          String verdict = bound.holds(each.median()) ? "met" : "MISSED";
          table.add("  " + each.name(), each.text(), bound.text(), verdict);
        }
      }
      text.append(table);
    }
  }

  /* Adds a section for all rows that have quantities in common. */
  private void addSections(List<Results.Series> series) {
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
      addSection(quantities, section);
    }
  }

  private void addSection(List<String> quantities, List<Map<String, Results.Series>> section) {
    TextTable table = new TextTable();
    table.add("#");
    List<String> head = new ArrayList<>(List.of("#", ""));
    quantities.forEach(each -> head.add(each.replaceFirst("^[,:]? *", "")));
    table.add(head.toArray(String[]::new));
    for (Map<String, Results.Series> row : section) {
      Results.Series first = row.values().iterator().next();
      List<String> line = new ArrayList<>(List.of("  " + first.step(), first.contestant()));
      for (String quantity : quantities) {
        Results.Series found = row.get(quantity);
        line.add(found == null ? "" : found.figure().text());
      }
      table.add(line.toArray(String[]::new));
    }
    text.append(table);
  }

  private void line(String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments)).append('\n');
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
