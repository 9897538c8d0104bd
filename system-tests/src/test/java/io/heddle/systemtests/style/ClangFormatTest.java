package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.tools.lab.Skip;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Test that C sources are formatted by clang-format; {@code ./heddle format} formats them. */
@Execution(ExecutionMode.CONCURRENT)
class ClangFormatTest {
  @Test
  void everyCFileIsFormatted() throws Exception {
    Path formatter = ClangFormat.find().orElse(null);
    if (formatter == null) {
      Skip.because(ClangFormat.MISSING);
      return;
    }
    List<String> command =
        new ArrayList<>(List.of(formatter.toString(), "--dry-run", "-Werror", "--style=file"));
    List<String> files =
        Repository.files().stream()
            .map(Repository::name)
            .filter(name -> name.endsWith(".c") || name.endsWith(".h"))
            .toList();
    assertFalse(files.isEmpty(), "no C files found at all");
    command.addAll(files);
    Process process =
        new ProcessBuilder(command)
            .directory(Repository.ROOT.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    List<String> unformatted =
        output.lines().filter(line -> line.contains("clang-format-violations")).toList();
    assertEquals(List.of(), unformatted, "run ./heddle format");
    assertEquals(0, process.waitFor(), output);
  }
}
