package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Test of the selection of tests by {@code ./heddle test NAME}. */
final class TestSelectionTest {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
  private static final String SCRIPT =
      """
      set -euo pipefail
      root=$1
      fail() { echo "$*"; exit 1; }
      source "$root/config/tests.sh"
      select_tests "$2"
      printf '%s ' "${selection[@]}"
      """;

  static List<String> modules() throws Exception {
    return MODULE
        .matcher(Files.readString(REPOSITORY.resolve("pom.xml")))
        .results()
        .map((MatchResult each) -> each.group(1))
        .toList();
  }

  private static String select(String name, int expected) throws Exception {
    Process bash =
        new ProcessBuilder("bash", "-c", SCRIPT, "bash", REPOSITORY.toString(), name)
            .redirectErrorStream(true)
            .start();
    String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(expected, bash.waitFor(), output);
    return output;
  }

  @ParameterizedTest
  @MethodSource("modules")
  void eachModuleCanBeTested(String module) throws Exception {
    String options = select(module, 0);
    assertTrue(options.contains("-Dtest=io/heddle") || options.contains("-DskipTests "), options);
  }

  /* Tests of both modules are in package io.heddle.cli.bridge. */
  @Test
  void moduleIsTestedWithoutThoseThatItNeeds() throws Exception {
    String options = select("tools", 0);
    assertTrue(options.contains("io/heddle/cli/bridge/ReloadTest,"), options);
    assertFalse(options.contains("/RedundancyTableTest"), options);
    assertFalse(options.contains("/platform/"), options);
  }

  @Test
  void oneClassMethodOrProgramIsSelected() throws Exception {
    assertTrue(select("TestSelectionTest#modules", 0).startsWith("-pl system-tests -am "));
    assertTrue(select("java_host", 0).contains("-Dctest.selected=java_host "));
    assertTrue(select("java-host", 1).contains("is named java-host"));
  }
}
