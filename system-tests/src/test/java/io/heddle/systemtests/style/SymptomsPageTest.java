package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Test that each message that docs/symptoms.md quotes is in the plugin's sources. */
@Execution(ExecutionMode.CONCURRENT)
class SymptomsPageTest {
  private static final List<String> MODULES =
      List.of(
          "native/",
          "platform/",
          "transport-core/",
          "roce/",
          "verbs/",
          "addr-manager/",
          "plugin-shim/");

  private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]*`[^|]*) \\|");
  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
  private static final Pattern JOIN = Pattern.compile("\"\\s*\\+?\\s*\"");
  private static final Pattern FORMAT = Pattern.compile("%[a-z#]+");

  /* Returns all string constants of the sources, without their placeholders. */
  private static String sources() throws IOException, InterruptedException {
    StringBuilder all = new StringBuilder();
    for (Path file : Repository.files()) {
      String name = Repository.ROOT.relativize(file).toString();
      if (MODULES.stream().anyMatch(name::startsWith)
          && (name.contains("/src/main/") || name.startsWith("native/src/"))) {
        all.append(Files.readString(file)).append('\n');
      }
    }
    return FORMAT.matcher(JOIN.matcher(all).replaceAll("")).replaceAll("…");
  }

  @Test
  void quotedMessagesArePrinted() throws IOException, InterruptedException {
    String text = Files.readString(Repository.ROOT.resolve("docs/symptoms.md"));
    String page =
        text.substring(text.indexOf("## At the start"), text.indexOf("## What nobody prints"));
    String sources = sources();
    List<String> unknown = new ArrayList<>();
    int checked = 0;
    Matcher row = ROW.matcher(page);
    while (row.find()) {
      if (row.group(1).contains("(NCCL's own words)")) {
        continue;
      }
      Matcher quoted = QUOTED.matcher(row.group(1));
      while (quoted.find()) {
        for (String words : quoted.group(1).split("…")) {
          checked++;
          if (words.strip().length() > 3 && !sources.contains(words.strip())) {
            unknown.add(words);
          }
        }
      }
    }
    assertEquals(List.of(), unknown);
    assertTrue(checked > 40, () -> "too few quotations on the page: " + page);
  }
}
