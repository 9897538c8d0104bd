package io.heddle.cli.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * That who has options of the plugin's Java machine too, {@code heddle perf verbs} and the script
 * that starts commands, has them as the plugin has them.
 */
final class PerfVerbsCommandTest {
  private static final Path PLUGIN_START = Checkout.path("native/src/jvm_start.c");
  private static final Path COMMAND_START = Checkout.path("packaging/start.sh");

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
    List<String> plugins = options(Files.readString(PLUGIN_START));
    assertTrue(plugins.containsAll(PerfVerbsCommand.MACHINE), plugins.toString());
  }

  private static List<String> inlined() throws IOException {
    String source = Files.readString(PLUGIN_START);
    int from = source.indexOf("INLINED[] = {");
    return options(source.substring(from, source.indexOf("};", from)));
  }

  @Test
  void theFirstCompilersOptionsAreThePluginsOnFewProcessors() throws IOException {
    List<String> few = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
    assertTrue(
        options(Files.readString(PLUGIN_START)).containsAll(few),
        "on few processors it is another option now");
    few.addAll(inlined());
    assertEquals(few, PerfVerbsCommand.FIRST_COMPILER);
  }

  /* What the script tells the first compiler, by a java that prints its options. */
  private static List<String> compilerOptions(String command) throws Exception {
    Process script =
        new ProcessBuilder("sh", COMMAND_START.toString(), "echo", "classes", command)
            .redirectErrorStream(true)
            .start();
    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, script.waitFor(), said);
    assertTrue(said.contains("io.heddle.cli.heddle.HeddleCommand " + command), said);
    return Stream.of(said.split("\\s+"))
        .filter(word -> word.startsWith("-XX:CompileCommand=") || word.startsWith("-XX:C1"))
        .toList();
  }

  @Test
  void aDaemonsCompilerIsToldWhatThePluginsIs() throws Exception {
    List<String> plugins =
        inlined().stream().filter(word -> word.startsWith("-XX:CompileCommand=")).toList();
    for (String daemon : List.of("bgp", "exporter")) {
      assertEquals(plugins, compilerOptions(daemon));
    }
    assertEquals(List.of(), compilerOptions("stat"));
  }

  @Test
  void thePerfCommandsCompilerIsToldAllThatThePluginsIs() throws Exception {
    assertEquals(Set.copyOf(inlined()), Set.copyOf(compilerOptions("perf")));
  }
}
