package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
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
 * Test that computes code metrics: sizes, tests and class cycles of each module, and lengths of
 * sentences of each page. It prints the tables and writes them to {@code target/metrics}, from
 * which {@code ./heddle metrics} prints them.
 */
@Execution(ExecutionMode.CONCURRENT)
class CodeMetricsTest {
  private static final Path FOLDER = Path.of("target", "metrics");
  private static final double MOST_WORDS = 18;
  private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?])\\s+");
  private static final Pattern PARAGRAPH_END =
      Pattern.compile("\n\\s*\n|\n(?=\\s*(?:[-*]|\\d+\\.) )");
  private static final Pattern TEST_SECONDS =
      Pattern.compile("<testsuite [^>]*?\\btime=\"([0-9.,]+)\"");

  /**
   * Sizes of a module's Java files.
   *
   * @param main number of lines of each main source file, ascending
   * @param testLines number of lines of all test files
   */
  private record Module(List<Long> main, long testLines) {
    long lines() {
      return main.stream().mapToLong(Long::longValue).sum();
    }
  }

  @Test
  void printsMetricsOfEachModule() throws Exception {
    Map<Path, List<Path>> files = new TreeMap<>();
    for (Path file : Repository.javaFiles()) {
      files.computeIfAbsent(module(file), name -> new ArrayList<>()).add(file);
    }
    StringBuilder table =
        new StringBuilder(
            "| module | files | lines | median | longest | test lines a line | tests, s |\n"
                + "|---|---|---|---|---|---|---|\n");
    long lines = 0;
    long longest = 0;
    for (Map.Entry<Path, List<Path>> each : files.entrySet()) {
      Module module = read(each.getValue());
      if (!module.main.isEmpty()) {
        String name = Repository.name(each.getKey());
        table.append(row(name.isEmpty() ? "(root)" : name, module, testSeconds(each.getKey())));
        lines += module.lines();
        longest = Math.max(longest, module.main.getLast());
      }
    }
    table.append(
        String.format(
            Locale.ROOT,
            "\n%,d modules with Java, %,d lines in main beside the bindings, longest file %d\n",
            files.size(),
            lines,
            longest));
    print("modules", table);
    assertTrue(table.toString().contains("\n| transport-core |"), table::toString);
  }

  private static Module read(List<Path> files) throws IOException {
    List<Long> main = new ArrayList<>();
    long tests = 0;
    for (Path file : files) {
      long lines = lines(file);
      if (file.toString().contains("/src/test/")) {
        tests += lines;
      } else {
        main.add(lines);
      }
    }
    main.sort(Comparator.naturalOrder());
    return new Module(main, tests);
  }

  /* Returns the sum of all classes' times in a module's newest reports; 0 without reports. */
  private static double testSeconds(Path module) throws IOException {
    Path reports = module.resolve("target/surefire-reports");
    if (!Files.isDirectory(reports)) {
      return 0;
    }
    double seconds = 0;
    try (Stream<Path> files = Files.list(reports)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".xml")).toList()) {
        Matcher time = TEST_SECONDS.matcher(Files.readString(file));
        seconds += time.find() ? Double.parseDouble(time.group(1).replace(",", "")) : 0;
      }
    }
    return seconds;
  }

  @Test
  void printsCyclesOfEachModule() throws IOException {
    StringBuilder table =
        new StringBuilder("| packages | classes | classes in the largest cycle |\n|---|---|---|\n");
    new TreeMap<>(ClassGraphs.byModule())
        .forEach((module, graph) ->
            table.append(
                "| %s | %s | %s |%n"
                    .formatted(module, graph.size(), ClassGraphs.largestCycle(graph).size())));
    print("cycles", table);
    assertTrue(table.toString().contains("\n| transport |"), table::toString);
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
    int words = pages.stream().mapToInt(CodeMetricsTest::wordsOf).sum();
    int ofReadme = wordsOf(Repository.ROOT.resolve("README.md"));
    table.append(
        String.format(
            Locale.ROOT,
            "\n%,d pages with %,d words, README.md %,d\n",
            pages.size(),
            words,
            ofReadme));
    print("pages", table);
    assertEquals(List.of(), found, "pages with more words a sentence than " + MOST_WORDS);
  }

  /* Returns the number of words of a page, with its tables and code. */
  private static int wordsOf(Path page) {
    try {
      return Files.readString(page).strip().split("\\s+").length;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static void print(String name, StringBuilder table) throws IOException {
    System.out.println(table);
    Files.createDirectories(FOLDER);
    Files.writeString(FOLDER.resolve(name + ".md"), table);
  }

  private static String row(String name, Module module, double testSeconds) {
    return String.format(
        Locale.ROOT,
        "| %s | %d | %d | %d | %d | %.2f | %.0f |\n",
        name,
        module.main.size(),
        module.lines(),
        module.main.get(module.main.size() / 2),
        module.main.getLast(),
        (double) module.testLines / module.lines(),
        testSeconds);
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
