package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Test of {@code heddle paths predict} on the command line. */
final class PathsPredictTest {
  private static final String TWO_TIERS =
      """
      # leaves and spines with one hash
      tier leaf
      members 4
      algorithm crc32LSB
      tier spine
      members 4
      algorithm crc32LSB
      flows fd00::1 fd00::2 49152-49215
      """;

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private @org.jspecify.annotations.Nullable Exception thrown;

  private int predict(String model, String... more) throws Exception {
    Path file = Files.writeString(folder.resolve("fabric.model"), model);
    CommandLine line = new CommandLine(new PathsPredictCommand());
    line.setOut(new PrintWriter(out, true));
    line.setExecutionExceptionHandler((failed, command, parsed) -> {
      thrown = failed;
      return 1;
    });
    String[] arguments = new String[2 + more.length];
    arguments[0] = "--model";
    arguments[1] = file.toString();
    System.arraycopy(more, 0, arguments, 2, more.length);
    return line.execute(arguments);
  }

  @Test
  void polarisedFabricIsShownInTheTable() throws Exception {
    assertEquals(0, predict(TWO_TIERS));
    String text = out.toString();
    assertTrue(text.contains("64 flows"), text);
    assertTrue(text.contains("leaf × spine: 4 combinations are used"), text);
    assertTrue(text.contains("polarisation 100.0 %"), text);
    assertTrue(text.contains("this hash is worse than random"), text);
    assertTrue(text.matches("(?s).*\\n +[0-9]+     ·     ·     ·\\n     · +[0-9]+ .*"), text);
  }

  @Test
  void documentHasTheSameFigures() throws Exception {
    assertEquals(0, predict(TWO_TIERS, "--json"));
    JsonNode document = Json.mapper().readTree(out.toString());
    assertEquals(64, document.get("flows").asInt());
    assertEquals(1, document.get("pairs").get(0).get("polarisation").asDouble());
    assertEquals(12, document.get("tiers").get(1).get("unused").asInt());
  }

  @Test
  void pageHasAllFiguresAndIsSelfContained() throws Exception {
    Path page = folder.resolve("page.html");
    assertEquals(0, predict(TWO_TIERS, "--page", page.toString()));
    String html = Files.readString(page);
    assertTrue(html.contains(out.toString().lines().findFirst().orElseThrow()), html);
    assertTrue(html.contains("Worst link of spine against the number of queue pairs"), html);
    assertTrue(html.contains("<polygon"), "the band of random choices");
    assertTrue(html.contains("<title>link of leaf 0, link of spine 0: 100 %</title>"), html);
    assertTrue(html.contains("<title>link of leaf 0, link of spine 1: 0 %</title>"), html);
    String elsewhere = html.replace("http://www.w3.org/2000/svg", "");
    assertFalse(elsewhere.contains("http") || elsewhere.contains("<script"), elsewhere);
  }

  @Test
  void pageInAMissingFolderIsRejectedBeforePrinting() throws Exception {
    assertEquals(1, predict(TWO_TIERS, "--page", folder.resolve("none/page.html").toString()));
    assertTrue(String.valueOf(thrown).contains("there is no folder"), String.valueOf(thrown));
    assertEquals("", out.toString());
  }

  @Test
  void errorNamesFileLineAndWord() throws Exception {
    assertEquals(1, predict(TWO_TIERS.replace("spine\nmembers 4", "spine\nmembers four")));
    assertTrue(thrown instanceof HeddleException, String.valueOf(thrown));
    assertEquals(
        folder.resolve("fabric.model") + " line 6: 'four' isn't a whole number from 1 to 1024",
        thrown.getMessage());
  }

  @Test
  void smallShareIsNotShownAsZero() {
    assertEquals("0.0 %", PredictionText.percent(0));
    assertEquals("less than 0.1 %", PredictionText.percent(1e-7));
    assertEquals("12.5 %", PredictionText.percent(0.125));
  }
}
