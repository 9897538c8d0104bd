package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that docs/decisions/README.md, the index of decisions, agrees with the headings of the other
 * pages in that folder.
 */
@Execution(ExecutionMode.CONCURRENT)
class DecisionsPageTest {
  private static final Path FOLDER = Repository.ROOT.resolve("docs/decisions");
  private static final Path PAGE = FOLDER.resolve("README.md");
  private static final Path MADE = Repository.ROOT.resolve("system-tests/target/decisions.md");
  private static final Pattern DECISION = Pattern.compile("(?m)^## (\\d+)\\. (.*)$");
  private static final Pattern TITLE = Pattern.compile("(?m)^# (.*)$");
  private static final String INTRODUCTION =
      """
      # Decisions

      A page holds the decisions on one subject. Each has its problem, the choice, and what was rejected or failed, with figures.
      The numbers are those that comments and other pages name. Measurements of the fast path are in the
      notebook, whose pages [the fast path](../fast-path.md) sums up and names.

      This index is made from the headings of the pages.

      | | decision | page |
      |---|---|---|
      """;

  @Test
  void indexHasTheDecisionsOfAllPages() throws Exception {
    Map<Integer, String> rows = new TreeMap<>();
    for (Path page : pages()) {
      String text = Files.readString(page);
      Matcher title = TITLE.matcher(text);
      assertTrue(title.find(), () -> page + " has no title");
      String link = "[%s](%s)".formatted(title.group(1), page.getFileName());
      int before = rows.size();
      Matcher each = DECISION.matcher(text);
      while (each.find()) {
        int number = Integer.parseInt(each.group(1));
        String row =
            "| %s | [%s](%s#%s) | %s |\n"
                .formatted(number, each.group(2), page.getFileName(), anchor(each), link);
        String other = rows.put(number, row);
        assertEquals(null, other, () -> "two decisions have the number " + number);
      }
      assertTrue(rows.size() > before, () -> page + " has no decision");
    }
    String made = INTRODUCTION + String.join("", rows.values());
    Files.writeString(MADE, made);
    String existing = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertEquals(
        made,
        existing,
        () -> "to renew the index: cp system-tests/target/decisions.md docs/decisions/README.md");
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .filter(file -> file.toString().endsWith(".md") && !file.equals(PAGE))
          .sorted()
          .toList();
    }
  }

  /* Returns the anchor that GitHub gives a heading. */
  private static String anchor(Matcher heading) {
    return (heading.group(1) + ". " + heading.group(2))
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^a-z0-9 -]", "")
        .replace(' ', '-');
  }
}
