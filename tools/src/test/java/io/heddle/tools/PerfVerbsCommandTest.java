package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** That {@code heddle perf verbs} measures a Java machine like the plugin's. */
final class PerfVerbsCommandTest {
  private static final Path START = Path.of("..", "native", "src", "jvm_start.c");

  private static List<String> options(String text) {
    return Pattern.compile("\"(-[^\"]+)\"")
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .map(quoted -> quoted.substring(1, quoted.length() - 1))
        .toList();
  }

  @Test
  void theMachinesOptionsAreThePlugins() throws IOException {
    List<String> plugins = options(Files.readString(START));
    assertTrue(plugins.containsAll(PerfVerbsCommand.MACHINE), plugins.toString());
  }

  @Test
  void theFirstCompilersOptionsAreThePluginsOnFewProcessors() throws IOException {
    String source = Files.readString(START);
    int from = source.indexOf("INLINED[] = {");
    List<String> few = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
    assertTrue(options(source).containsAll(few), "on few processors it is another option now");
    few.addAll(options(source.substring(from, source.indexOf("};", from))));
    assertEquals(few, PerfVerbsCommand.FIRST_COMPILER);
  }
}
