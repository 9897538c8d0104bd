package io.heddle.tools.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The project's measurements, from the table {@code measurements.txt}. */
final class Measurements {
  /** Suffix of the name of a measurement that is repeated with both of Java's compilers. */
  private static final String BOTH = "-both";

  private static final Map<String, Measurement> BY_NAME = read();

  private Measurements() {}

  /** Returns all measurements in the order in which they run. */
  static List<Measurement> all() {
    return List.copyOf(BY_NAME.values());
  }

  static Map<String, Measurement> byName() {
    return BY_NAME;
  }

  private static Map<String, Measurement> read() {
    Map<String, Measurement> byName = new LinkedHashMap<>();
    List<DataTable.Line> lines = DataTable.read("measurements.txt");
    for (int i = 0; i < lines.size(); i++) {
      DataTable.Line line = lines.get(i);
      if (line.cell(0).startsWith("both: ")) {
        for (String name : line.cell(0).substring("both: ".length()).split(" ")) {
          Measurement both = withBothCompilers(Objects.requireNonNull(byName.get(name), name));
          byName.put(both.name(), both);
        }
        continue;
      }
      byName.put(
          line.cell(0),
          new Measurement(
              line.cell(0),
              line.cell(4),
              words(lines.get(i + 1)),
              words(lines.get(i + 2)),
              FigureReader.named(line.cell(1)),
              Integer.parseInt(line.cell(2)),
              Stream.of(line.cell(3).split(" "))
                  .filter(word -> !word.isEmpty())
                  .map(word -> Requirement.valueOf(word.toUpperCase(Locale.ROOT)))
                  .toList()));
      i += 2;
    }
    return byName;
  }

  private static List<String> words(DataTable.Line line) {
    return List.of(line.cell(0).split(" "));
  }

  private static Measurement withBothCompilers(Measurement each) {
    return new Measurement(
        each.name() + BOTH,
        each.description() + ", with both of Java's compilers",
        withBothCompilers(each.full()),
        withBothCompilers(each.quick()),
        each.reader(),
        each.limitSeconds(),
        each.requirements());
  }

  private static List<String> withBothCompilers(List<String> arguments) {
    List<String> all = new ArrayList<>(arguments);
    if (!all.contains("--planes")) {
      all.addAll(List.of("--planes", "1"));
    }
    all.addAll(List.of("--compilers", "both"));
    return all;
  }
}
