package io.heddle.tools.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Reader of the tables of this package, which are resources. */
final class DataTable {
  private DataTable() {}

  /**
   * Line of a table.
   *
   * @param isIndented whether the line belongs to the last one that isn't indented
   * @param cells texts between vertical bars, without blanks around them
   */
  record Line(boolean isIndented, List<String> cells) {
    String cell(int index) {
      return cells.get(index);
    }
  }

  /** Returns the lines of a table. Empty lines and lines that begin with # are comments. */
  static List<Line> read(String name) {
    try (InputStream in = Objects.requireNonNull(DataTable.class.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(line ->
              new Line(
                  line.startsWith(" "),
                  Arrays.stream(line.split("\\|", -1)).map(String::strip).toList()))
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(name, unreadable);
    }
  }
}
