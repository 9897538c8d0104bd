package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class TextTest {
  private static final int LINE_LENGTH = 130;
  private static final int MOST_LINES = 500;
  private static final Pattern SOURCE = Pattern.compile("\\.(java|c|h|cc|cpp)$");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");
  /* The pattern is built from pieces, so that this file doesn't contain such a path itself. */
  private static final Pattern MACHINE_PATH =
      Pattern.compile("(?<![\\w.$}*-])/(work|root|" + "home)/[\\w.]");

  private static final Pattern COMMENTED = Pattern.compile("\\.(c|h|cc|py|sh)$|^heddle$");
  private static final Pattern COMMENT = Pattern.compile("^\\s*(//|/\\*|#|\\*)\\s");
  private static final Pattern CLAUSE =
      Pattern.compile(
          "((//|/\\*\\*?|#)\\s*(What(ever)?|Who(ever|m)?)|^\\s*\\*\\s*(What(ever)?|Who(ever|m)?))\\b");

  @Test
  void javaFilesHaveNoTabsNoTrailingBlanksAndNoLongLines() throws Exception {
    List<String> found = new ArrayList<>();
    for (Path file : Repository.javaFiles()) {
      List<String> lines = Files.readAllLines(file);
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i);
        if (line.indexOf('\t') >= 0
            || !line.stripTrailing().equals(line)
            || line.length() > LINE_LENGTH) {
          found.add(Repository.name(file) + ":" + (i + 1) + ": " + line);
        }
      }
    }
    assertNone(found);
  }

  @Test
  void filesHaveAtMost500Lines() throws Exception {
    List<String> found = new ArrayList<>();
    for (Path file : Repository.files()) {
      String name = Repository.name(file);
      if (SOURCE.matcher(name).find() && !name.startsWith("jextract/src/")) {
        long lines = text(file).lines().count();
        if (lines > MOST_LINES) {
          found.add(name + " has " + lines + " lines");
        }
      }
    }
    assertNone(found);
  }

  @Test
  void linksInMarkdownAreAlive() throws Exception {
    List<String> found = new ArrayList<>();
    int links = 0;
    for (Path file : Repository.files()) {
      if (!file.toString().endsWith(".md")) {
        continue;
      }
      Matcher link = LINK.matcher(Files.readString(file));
      while (link.find()) {
        links++;
        String target = link.group(1);
        if (!target.contains("://") && !Files.exists(file.resolveSibling(target))) {
          found.add(Repository.name(file) + " links to " + target + ", which doesn't exist");
        }
      }
    }
    assertTrue(links > 0, "no links found at all");
    assertNone(found);
  }

  @Test
  void noFileContainsMachinePath() throws Exception {
    List<String> found = new ArrayList<>();
    for (Path file : Repository.files()) {
      Matcher path = MACHINE_PATH.matcher(text(file));
      while (path.find()) {
        found.add(Repository.name(file) + ": " + path.group());
      }
    }
    assertNone(found);
  }

  /** Checks comments of C and scripts. Checkstyle has the same rule for Java. */
  @Test
  void commentsInCAndScriptsBeginWithNounOrVerb() throws Exception {
    List<String> found = new ArrayList<>();
    int comments = 0;
    for (Path file : Repository.files()) {
      if (!COMMENTED.matcher(file.getFileName().toString()).find()) {
        continue;
      }
      List<String> lines = text(file).lines().toList();
      for (int i = 0; i < lines.size(); i++) {
        comments += COMMENT.matcher(lines.get(i)).find() ? 1 : 0;
        if (CLAUSE.matcher(lines.get(i)).find()) {
          found.add(Repository.name(file) + ":" + (i + 1) + ": " + lines.get(i).strip());
        }
      }
    }
    assertTrue(comments > 1_000, "only " + comments + " comments found");
    assertNone(found);
  }

  /** Returns the file's text, or an empty text for a binary file. */
  private static String text(Path file) throws IOException {
    try {
      return Files.readString(file);
    } catch (MalformedInputException binary) {
      return "";
    }
  }

  private static void assertNone(List<String> found) {
    assertEquals("", String.join("\n", found));
  }
}
