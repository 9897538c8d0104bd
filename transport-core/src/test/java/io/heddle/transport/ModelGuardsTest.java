package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that the page of the protocols' models names existing code and an existing test for each
 * guard.
 */
class ModelGuardsTest {
  private static final Path PAGE = Path.of("../docs/failover-model.md");
  private static final Path MODELS = Path.of("src/model");
  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

  private final Map<String, String> sources = new HashMap<>();

  @Test
  void eachGuardIsInItsModelAndHasItsMethodAndItsTest() throws IOException {
    for (String root :
        List.of(
            "src/main/java",
            "src/test/java",
            "../reorder/src",
            "../verbs/src/test/java",
            "../system-tests/src/test/java")) {
      try (Stream<Path> files = Files.walk(Path.of(root))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          String name = file.getFileName().toString().replace(".java", "");
          sources.put(name, Files.readString(file));
        }
      }
    }
    String model = "";
    int rows = 0;
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("## ")) {
        model = Files.readString(MODELS.resolve(line.substring(3))).replaceAll("\\s+", " ");
      }
      String[] cells = line.split(" (?<!\\\\)\\| ", -1);
      if (line.startsWith("| ") && cells.length == 4 && !line.startsWith("| where")) {
        rows++;
        String guard = quoted(cells[1]).getFirst().replace("\\|", "|");
        assertTrue(model.contains(guard), () -> "no guard " + guard);
        for (String named : quoted(cells[2])) {
          assertIsThere(named);
        }
        for (String named : quoted(cells[3])) {
          assertIsThere(named);
        }
      }
    }
    assertEquals(ROWS, rows, "rows of both tables");
  }

  private static final int ROWS = 41;

  private static List<String> quoted(String cell) {
    List<String> found = new ArrayList<>();
    Matcher matcher = QUOTED.matcher(cell);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private void assertIsThere(String named) {
    String[] parts = named.split("\\.");
    String source = sources.get(parts[0]);
    assertTrue(source != null, () -> "no class " + parts[0]);
    assertTrue(source.contains(" " + parts[1] + "("), () -> "no method " + named);
  }
}
