package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that runs every fenced block of language {@code sh} in the documents. The blocks run in a
 * folder that looks like a checkout, where {@code ./heddle} is this build's command. A comment
 * {@code test: skip: REASON} before a block excludes the block.
 */
@EndsWithin(300)
@SystemTest
final class DocumentCommandsTest {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final Pattern BLOCK =
      Pattern.compile(
          "(?:<!-- test: skip: ([^\\n]*?) -->\\n)?^```(\\w*)\\n(.*?)^```$",
          Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern COMMAND =
      Pattern.compile("(?m)^(\\./heddle|heddle|perf-tests/) ?.*");

  private static final List<String> LINKED = List.of("perf-tests", "plugin-shim", "docs");

  @TempDir private Path folder;

  /** Fenced block of a document, with the number of its first line. */
  private record Block(Path file, int line, String language, String text, String skip) {
    String name() {
      return REPOSITORY.relativize(file) + ":" + line;
    }
  }

  private static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (String place : List.of(".", "docs", "docs/decisions", "docs/notebook", "perf-tests")) {
      try (DirectoryStream<Path> pages =
          Files.newDirectoryStream(REPOSITORY.resolve(place).normalize(), "*.md")) {
        for (Path page : pages) {
          String text = Files.readString(page);
          Matcher block = BLOCK.matcher(text);
          while (block.find()) {
            int line = (int) text.substring(0, block.start(3)).lines().count();
            String skip = block.group(1) == null ? "" : block.group(1);
            blocks.add(new Block(page, line, block.group(2), block.group(3), skip));
          }
        }
      }
    }
    return blocks;
  }

  @Test
  void everyCommandBlockIsMarkedAsShell() throws IOException {
    List<String> unmarked = new ArrayList<>();
    for (Block block : blocks()) {
      Matcher command = COMMAND.matcher(block.text());
      if (!block.language().equals("sh") && command.find()) {
        unmarked.add(block.name() + ": " + command.group());
      }
    }
    assertEquals(List.of(), unmarked, "blocks that begin with ```sh are run");
  }

  @TestFactory
  List<DynamicTest> everyCommandInTheDocumentsRuns() throws IOException {
    List<Block> commands =
        blocks().stream().filter(block -> block.language().equals("sh")).toList();
    assertTrue(commands.stream().anyMatch(block -> block.skip().isEmpty()), "none would be run");
    return commands.stream()
        .map(block -> DynamicTest.dynamicTest(block.name(), () -> run(block)))
        .toList();
  }

  private void run(Block block) throws IOException, InterruptedException {
    if (!block.skip().isEmpty()) {
      Skip.because(block.name() + ": " + block.skip());
    }
    BuildOutputs.plugin();
    Path checkout = checkout();
    Path script = checkout.resolve("script");
    Files.writeString(script, "cd '" + checkout + "'\n" + block.text());
    try (HostProcess process =
        HostProcess.start(
            List.of("bash", "-euo", "pipefail", script.toString()),
            folder.resolve("output"),
            Map.of())) {
      assertEquals(0, process.exitCode(240), process::outputOrWhyNot);
    } finally {
      for (String part : LINKED) {
        Files.delete(checkout.resolve(part));
      }
    }
  }

  /*
   * Creates a folder like a checkout. A real ./heddle would build first; the script in its place
   * runs the classes under test.
   */
  private Path checkout() throws IOException {
    Path checkout = Files.createDirectories(folder.resolve("checkout"));
    for (String part : LINKED) {
      Files.createSymbolicLink(checkout.resolve(part), REPOSITORY.resolve(part));
    }
    Path heddle = checkout.resolve("heddle");
    Files.writeString(
        heddle,
        "#!/bin/sh\nset -- '%s' '%s' \"$@\"\n. '%s'\n"
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path"),
                REPOSITORY.resolve("packaging/start.sh")));
    Files.setPosixFilePermissions(heddle, PosixFilePermissions.fromString("rwxr-xr-x"));
    return checkout;
  }
}
