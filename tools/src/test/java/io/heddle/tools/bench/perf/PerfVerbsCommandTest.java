package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import org.junit.jupiter.api.Test;

/**
 * Test that {@code heddle perf verbs} and the start script of commands use the plugin's JVM
 * options.
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
  void jvmOptionsAreThePlugins() throws IOException {
    List<String> plugins = options(Files.readString(PLUGIN_START));
    assertTrue(plugins.containsAll(PerfVerbsCommand.MACHINE), plugins.toString());
  }

  private static List<String> inlined() throws IOException {
    String source = Files.readString(PLUGIN_START);
    int from = source.indexOf("INLINED[] = {");
    return options(source.substring(from, source.indexOf("};", from)));
  }

  @Test
  void firstCompilerOptionsAreThePluginsOnFewProcessors() throws IOException {
    List<String> few = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
    assertTrue(
        options(Files.readString(PLUGIN_START)).containsAll(few),
        "on few processors it is another option now");
    few.addAll(inlined());
    assertEquals(few, PerfVerbsCommand.FIRST_COMPILER);
  }

  /*
   * Returns the command line with which the script would start java. An {@code echo} in place of
   * java prints it.
   */
  private static List<String> commandLine(String... command) throws Exception {
    List<String> line = new ArrayList<>(List.of("sh", COMMAND_START.toString(), "echo", "classes"));
    line.addAll(List.of(command));
    Process script = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, script.waitFor(), said);
    assertTrue(
        said.contains("io.heddle.cli.heddle.HeddleCommand " + String.join(" ", command)), said);
    return List.of(said.split("\\s+"));
  }

  private static List<String> compilerOptions(String command) throws Exception {
    return commandLine(command).stream()
        .filter(word -> word.startsWith("-XX:CompileCommand=") || word.startsWith("-XX:C1"))
        .toList();
  }

  @Test
  void daemonsHaveTheSameCompileCommandsAsThePlugin() throws Exception {
    List<String> plugins =
        inlined().stream().filter(word -> word.startsWith("-XX:CompileCommand=")).toList();
    for (String daemon : List.of("bgp", "bridge", "exporter")) {
      assertEquals(plugins, compilerOptions(daemon));
    }
    assertEquals(List.of(), compilerOptions("stat"));
  }

  @Test
  void perfCommandsHaveAllCompilerOptionsOfThePlugin() throws Exception {
    assertEquals(Set.copyOf(inlined()), Set.copyOf(compilerOptions("perf")));
  }

  @Test
  void bridgeHasBothCompilersAndShortCommandsTheFirst() throws Exception {
    String first = "-XX:TieredStopAtLevel=1";
    assertFalse(commandLine("bridge", "run", "bridge.conf").contains(first));
    assertTrue(commandLine("bridge", "check", "run").contains(first));
    assertTrue(commandLine("bgp", "run").contains(first));
  }
}
