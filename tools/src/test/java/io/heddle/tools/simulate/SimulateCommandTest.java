package io.heddle.tools.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class SimulateCommandTest {
  private record Run(int code, String out, String err) {}

  private static Run run(String arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(new SimulateCommand());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    int code = line.execute(arguments.split(" "));
    return new Run(code, out.toString(), err.toString());
  }

  private static JsonNode json(String arguments) throws Exception {
    Run run = run(arguments + " --json");
    assertEquals(0, run.code(), run.err());
    return Json.mapper().readTree(run.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ring", "all-to-all", "permutation", "pipeline", "incast"})
  void theSameSeedPrintsTheSameBytes(String pattern) {
    String line =
        "--gpus 128 --planes 4 --leaf 16 --policy spray,hash --round 1M --rounds 2 --bursts"
            + " --seed 7 --json --pattern "
            + pattern;
    Run first = run(line);
    assertEquals(0, first.code(), first.err());
    assertEquals(first.out(), run(line).out());
  }

  @Test
  void announcedDegradedPlaneGetsItsShare() throws Exception {
    JsonNode run =
        json("--gpus 16 --planes 4 --rounds 40 --pattern permutation --degraded 0=0.25 --announce")
            .get("policies")
            .get(0);
    assertEquals(1.0 / 13, run.get("plane_shares").get(0).asDouble(), 0.01);
    assertTrue(run.get("of_ideal").asDouble() > 0.95, run.toString());
  }

  @Test
  void hashIsSlowerThanSprayOnEqualPlanes() throws Exception {
    JsonNode runs =
        json("--gpus 16 --planes 8 --rounds 10 --pattern permutation --policy spray,hash")
            .get("policies");
    assertTrue(
        runs.get(0).get("of_ideal").asDouble() > 1.5 * runs.get(1).get("of_ideal").asDouble(),
        runs.toString());
  }

  @Test
  void temporaryPlaneFailureLosesChunksButNoBytes() throws Exception {
    JsonNode run =
        json("--gpus 8 --rounds 50 --pattern permutation --fail 1@200:1000").get("policies").get(0);
    assertTrue(run.get("lost").asLong() > 0, run.toString());
    assertTrue(run.get("chunks").asLong() >= run.get("lost").asLong() + 8 * 50 * 35);
  }

  @Test
  void pageIsSelfContained(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("run.html");
    Run run = run("--gpus 128 --policy spray,hash --pattern permutation --page " + page);
    assertEquals(0, run.code(), run.err());
    String html = Files.readString(page);
    assertTrue(html.startsWith("<!doctype html>") && html.endsWith("</html>\n"), "whole");
    String outside = html.replace("http://www.w3.org/2000/svg", "");
    for (String reference : List.of("http:", "https:", "src=", "href=", "@import", "<script")) {
      assertEquals(-1, outside.indexOf(reference), reference + " is external");
    }
    assertEquals(4, html.split("<svg ", -1).length - 1, "times, goodput and a heat map a policy");
    assertEquals(4, html.split("Made by: chunks", -1).length - 1, "each says which level made it");
    assertEquals(List.of("run.html"), List.of(folder.toFile().list()));
  }

  @Test
  void pageInAMissingFolderIsRejectedBeforeTheRun(@TempDir Path folder) {
    Run run = run("--gpus 4 --round 1K --page " + folder.resolve("none/run.html"));
    assertEquals(ExitCode.FAILED, run.code());
    assertTrue(run.err().contains("run.html: there is no folder "), run.err());
    assertEquals("", run.out());
  }

  @Test
  void folderAsPageIsRejectedBeforeTheRun(@TempDir Path folder) {
    Run run = run("--gpus 4 --round 1K --page " + folder);
    assertEquals(ExitCode.FAILED, run.code());
    assertTrue(run.err().contains(": it is a folder"), run.err());
    assertEquals("", run.out());
  }

  @Test
  void tableIsPrintedEvenIfThePageFails(@TempDir Path folder) throws Exception {
    Files.createDirectories(folder.resolve("run.html.new/full"));
    Run run = run("--gpus 4 --round 1K --page " + folder.resolve("run.html"));
    assertEquals(ExitCode.FAILED, run.code());
    assertTrue(run.err().contains("can't write "), run.err());
    assertTrue(run.out().contains("spray"), run.out());
  }

  @Test
  void flowRunHasEpochsAroundAFailure(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("flows.html");
    JsonNode run =
        json("--level flows --gpus 256 --pattern permutation --rounds 10000 --switching spray"
                + " --fail 1@5000:20000 --page "
                + page)
            .get("policies")
            .get(0);
    JsonNode epochs = run.get("epochs");
    assertEquals(3, epochs.size(), epochs.toString());
    double before = epochs.get(0).get("goodput_gbps").asDouble();
    assertEquals(400, before, 1);
    assertEquals(0.75 * before, epochs.get(1).get("goodput_gbps").asDouble(), 1);
    assertEquals(before, epochs.get(2).get("goodput_gbps").asDouble(), 1e-6);
    double alone = 10_000 * 4 * 1.048576e6 / 50e3;
    assertEquals(alone + 0.25 * 20_000, run.get("end_us").asDouble(), 0.01 * alone);
    assertTrue(Files.readString(page).contains("Made by: flows, with shares by chunks."));
  }

  @Test
  void routesOfCardsFollowTheDraftsFormula(@TempDir Path folder) throws Exception {
    Path page = folder.resolve("routes.html");
    JsonNode report =
        json("--control-plane --gpus 2000 --planes 4 --peers 8 --sample 2 --page " + page);
    assertTrue(report.get("passed").asBoolean(), report.toString());
    assertEquals(8_000, report.get("schemes").get(0).get("in_table").asInt());
    assertEquals(32, report.get("schemes").get(2).get("in_table").asInt());
    assertTrue(Files.readString(page).contains("Made by: counting"), "says how it was made");
  }

  @Test
  void referenceFiguresAreMet() {
    Run run = run("--check htsim");
    assertEquals(0, run.code(), run.out());
    assertTrue(run.out().contains("PASSED"), run.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--gpus 1 | --gpus 1 is not in 2 to",
        "--gpus 100 --group 7 | --gpus 100 is not a multiple of 7 GPUs per group: give --group",
        "--policy fastest | --policy fastest is not one of spray, pinned",
        "--pattern star | 'star' is not one of ring, all-to-all, permutation, pipeline, incast",
        "--degraded 0=0 | --degraded 0=0.0 is not a share above 0 and up to 1",
        "--degraded 9=0.5 | --degraded 9 is not in 0 to 3",
        "--fail 0 | is not PLANE@START:LENGTH",
        "--fail 0@1:2 --bursts | --degraded, --fail and --bursts can't be combined",
        "--check htsim --page x.html | --page can't be combined with --check",
        "--control-plane --check htsim | --control-plane can't be combined with --check",
        "--control-plane --gpus 20 --sample 50 | --sample 50 is not in 1 to 20",
        "--level flows --bursts | --bursts are too short for --level flows",
        "--level flows --planes 1 --fail 0@1:2 | --fail needs more than one plane",
        "--announce | --announce requires --degraded",
        "--gpus 100000 --pattern all-to-all --group 1000 | 99,900,000 connections are more than",
      })
  void invalidOptionsAreRejected(String arguments, String sentence) {
    Run run = run(arguments);
    assertEquals(ExitCode.USAGE, run.code());
    assertTrue(run.err().contains(sentence), run.err());
  }
}
