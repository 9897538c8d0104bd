package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that computes code metrics: sizes of files, class cycles and tests by module, lengths of
 * sentences by page. The test prints them as tables for docs/decisions/house.md. The page's figures
 * may be older than the code, but the page must list the current modules.
 */
@Execution(ExecutionMode.CONCURRENT)
class CodeMetricsTest {
  private static final Path PAGE = Repository.ROOT.resolve("docs/decisions/house.md");
  private static final String SIZES =
      "| module | files | lines | median | largest | tests to one line |\n";
  private static final String KNOTS = "| module | classes | largest knot |\n";
  private static final double MOST_WORDS = 18;
  private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?])\\s+");
  private static final Pattern PARAGRAPH_END =
      Pattern.compile("\n\\s*\n|\n(?=\\s*(?:[-*]|\\d+\\.) )");

  @Test
  void printsMetricsOfEachModule() throws Exception {
    Map<Path, List<Path>> files = new TreeMap<>();
    for (Path file : Repository.javaFiles()) {
      files.computeIfAbsent(module(file), name -> new ArrayList<>()).add(file);
    }
    StringBuilder table = new StringBuilder(SIZES + "|---|---|---|---|---|---|\n");
    for (Map.Entry<Path, List<Path>> each : files.entrySet()) {
      List<Long> main = new ArrayList<>();
      long tests = 0;
      for (Path file : each.getValue()) {
        long lines = lines(file);
        if (file.toString().contains("/src/test/")) {
          tests += lines;
        } else {
          main.add(lines);
        }
      }
      if (!main.isEmpty()) {
        String name = Repository.name(each.getKey());
        table.append(row(name.isEmpty() ? "(root)" : name, main, tests));
      }
    }
    print(table);
    assertTrue(names(SIZES, table.toString()).contains("transport-core"), table::toString);
    assertPageHasTheModulesOf(table, SIZES);
  }

  @Test
  void printsCyclesOfEachModule() throws IOException {
    StringBuilder table = new StringBuilder(KNOTS + "|---|---|---|\n");
    new TreeMap<>(ClassGraphs.byModule())
        .forEach((module, graph) ->
            table.append(
                "| %s | %s | %s |%n"
                    .formatted(module, graph.size(), ClassGraphs.largestCycle(graph).size())));
    print(table);
    assertTrue(names(KNOTS, table.toString()).contains("transport"), table::toString);
    assertPageHasTheModulesOf(table, KNOTS);
  }

  @Test
  void readsNamesUpToTablesEnd() {
    String page =
        "text\n\n" + KNOTS + "|---|---|---|\n| a.b | 1 | 1 |\n| c | 2 | 1 |\n\n| d | 3 |\n";
    assertEquals(List.of("a.b", "c"), names(KNOTS, page));
    assertEquals(List.of(), names(SIZES, page));
  }

  private static void assertPageHasTheModulesOf(StringBuilder table, String head)
      throws IOException {
    assertEquals(
        String.join("\n", names(head, table.toString())),
        String.join("\n", names(head, Files.readString(PAGE))),
        () -> "modules in " + Repository.name(PAGE) + ", which is to have the table\n" + table);
  }

  /* Returns the first column of the table with this heading. */
  private static List<String> names(String head, String page) {
    int begin = page.indexOf(head);
    return begin < 0
        ? List.of()
        : page.substring(begin)
            .lines()
            .skip(2)
            .takeWhile(line -> line.startsWith("| "))
            .map(line -> line.split("\\|")[1].strip())
            .toList();
  }

  @Test
  void noPageHasLongSentences() throws Exception {
    StringBuilder table =
        new StringBuilder("| page | sentences | words a sentence |\n|---|---|---|\n");
    List<String> found = new ArrayList<>();
    List<Path> pages =
        Repository.files().stream()
            .filter(file -> file.toString().endsWith(".md"))
            .sorted(Comparator.naturalOrder())
            .toList();
    for (Path page : pages) {
      List<Integer> words = wordsOfSentences(Files.readString(page));
      double mean = words.stream().mapToInt(Integer::intValue).average().orElse(0);
      String row =
          String.format(
              Locale.ROOT, "| %s | %d | %.1f |\n", Repository.name(page), words.size(), mean);
      table.append(row);
      if (mean > MOST_WORDS) {
        found.add(row);
      }
    }
    print(table);
    assertEquals(List.of(), found, "pages with more words a sentence than " + MOST_WORDS);
  }

  private static void print(StringBuilder table) {
    System.out.println(table);
  }

  private static String row(String module, List<Long> main, long tests) {
    main.sort(Comparator.naturalOrder());
    long lines = main.stream().mapToLong(Long::longValue).sum();
    return String.format(
        Locale.ROOT,
        "| %s | %d | %d | %d | %d | %.2f |\n",
        module,
        main.size(),
        lines,
        main.get(main.size() / 2),
        main.getLast(),
        (double) tests / lines);
  }

  private static Path module(Path file) {
    Path at = file.getParent();
    while (!Files.exists(at.resolve("pom.xml"))) {
      at = at.getParent();
    }
    return at;
  }

  private static long lines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.count();
    }
  }

  /*
   * Returns the number of words of each sentence, without code blocks, tables and headings. A code
   * span counts as one word.
   */
  private static List<Integer> wordsOfSentences(String page) {
    String prose =
        page.replaceAll("(?s)```.*?```", "")
            .replaceAll("(?m)^(\\||#|    ).*$", "")
            .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
            .replaceAll("`[^`]*`", "code");
    List<Integer> words = new ArrayList<>();
    for (String paragraph : PARAGRAPH_END.split(prose)) {
      for (String sentence : SENTENCE_END.split(paragraph.strip())) {
        int count = sentence.isBlank() ? 0 : sentence.strip().split("\\s+").length;
        if (count > 1) {
          words.add(count);
        }
      }
    }
    return words;
  }
}
