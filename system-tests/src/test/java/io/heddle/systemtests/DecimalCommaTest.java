package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of commands in locales with a decimal comma, or with a dotless lower-case I. The C test
 * locale_kept covers the plugin in a host program with such a locale.
 */
@SystemTest
final class DecimalCommaTest {
  private static final long LIMIT_SECONDS = 300;

  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
  }

  /** Returns an environment with this locale, which need not be installed. */
  private Map<String, String> environment(String language)
      throws IOException, InterruptedException {
    if (!Files.isReadable(Path.of("/usr/share/i18n/locales", language))) {
      Skip.because(
          "no source of the locale " + language + " here; it comes with the package locales");
    }
    String name = language + ".UTF-8";
    Process localedef =
        new ProcessBuilder(
                "localedef", "-i", language, "-f", "UTF-8", folder.resolve(name).toString())
            .inheritIO()
            .start();
    assertEquals(0, localedef.waitFor(), "localedef made no " + name);
    return Map.of("LOCPATH", folder.toString(), "LC_ALL", name, "LANGUAGE", language);
  }

  private String run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    Path log = Files.createTempFile(folder, "said", null);
    try (HostProcess process = HostProcess.start(HeddleRun.command(arguments), log, environment)) {
      int exitCode = process.exitCode(LIMIT_SECONDS);
      assertEquals(0, exitCode, process.output());
      return process.output();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tr_TR", "de_DE"})
  @WholeRunOnly(alwaysRunRows = 1)
  void theDemoPassesAndItsReportIsJson(String language) throws Exception {
    String report =
        run(
            environment(language),
            "demo",
            "--json",
            "--network",
            "loopback",
            "--iterations",
            "2",
            "--max-bytes",
            "64K");
    JsonNode json = new ObjectMapper().readTree(report.substring(report.indexOf('{')));
    assertTrue(json.path("passed").asBoolean(), report);
    assertTrue(json.path("results").path(0).path("time_us").isNumber(), report);
  }

  @Test
  void commandLineWorksUnderTurkishLocale() throws Exception {
    Map<String, String> turkish = environment("tr_TR");
    for (List<String> command :
        List.of(List.of("planes", "--json"), List.of("stat", "--help"), List.of("lab", "--help"))) {
      run(turkish, command.toArray(String[]::new));
    }
  }
}
