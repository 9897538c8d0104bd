package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of the bash completion in the packages, run by bash itself. */
final class CompletionTest {
  @TempDir private Path folder;
  private Path completion;

  @BeforeEach
  void write() {
    completion = folder.resolve("heddle");
    assertEquals(0, HeddleCommand.commandLine().execute("write-completion", completion.toString()));
  }

  /** Returns the words that bash offers to complete the last of these words. */
  private List<String> offered(String... words) throws Exception {
    String script =
        """
        . "$1" && shift
        COMP_WORDS=(heddle "$@") COMP_CWORD=$#
        $(complete -p heddle | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        printf '%s\\n' "${COMPREPLY[@]}"
        """;
    ProcessBuilder bash = new ProcessBuilder("bash", "-c", script, "bash", completion.toString());
    bash.command().addAll(List.of(words));
    Process process = bash.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said.lines().map(String::strip).toList();
  }

  @Test
  void visibleCommandsAreCompleted() throws Exception {
    assertTrue(offered("pla").contains("planes"), () -> offeredText("pla"));
    assertEquals(List.of(""), offered("write-"));
  }

  @Test
  void optionsOfSubcommandsAreCompleted() throws Exception {
    assertTrue(offered("bgp", "run", "--con").contains("--config"), () -> offeredText("bgp"));
  }

  private String offeredText(String word) {
    try {
      return offered(word) + "\n" + Files.readString(completion).lines().limit(60).toList();
    } catch (Exception failure) {
      return failure.toString();
    }
  }
}
