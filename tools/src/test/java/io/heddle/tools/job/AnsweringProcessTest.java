package io.heddle.tools.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Test of {@link AnsweringProcess} with a shell as the process: requests, answers and ends. */
@EndsWithin(30)
final class AnsweringProcessTest {
  private final RunFolder folder;
  private final List<String> answers = new ArrayList<>();

  AnsweringProcessTest() throws IOException {
    folder = new RunFolder();
  }

  @AfterEach
  void removeLogs() throws IOException {
    if (Files.exists(folder.path())) {
      RunFolder.remove(folder.path());
    }
  }

  private AnsweringProcess start(String script) throws IOException {
    return new AnsweringProcess(
        "C", List.of("/bin/sh", "-c", script), Map.of("UNIT", "ns"), folder);
  }

  private static String failure(Executable what) {
    return String.valueOf(assertThrows(HeddleException.class, what).getMessage());
  }

  @Test
  void answersOfOrdersAreSeparate() throws Exception {
    String script = "echo ready; while read order; do echo $order $UNIT; echo done; echo end; done";
    try (AnsweringProcess process = start(script)) {
      assertEquals("ready", process.next());
      process.request("round", answers::add);
      assertEquals(List.of("round ns", "done"), answers);
      process.request("report", answers::add);
      assertEquals(List.of("round ns", "done", "report ns", "done"), answers);
    }
    assertFalse(Files.exists(folder.path()));
  }

  @Test
  void deathDuringAnAnswerFailsWithTheLastLogLines() throws Exception {
    try (AnsweringProcess process =
        start("read order; echo half; echo 'bad key' >&2; kill -9 $$")) {
      String message = failure(() -> process.request("round", answers::add));
      assertEquals(List.of("half"), answers);
      assertTrue(
          message.startsWith("C ended: killed by signal 9; its last log lines (all in "), message);
      assertTrue(message.endsWith("\n    bad key"), message);
    }
    assertTrue(Files.exists(folder.path()), "its log is kept");
  }

  @Test
  void orderToAnEndedProcessFailsWithItsExit() throws Exception {
    try (AnsweringProcess process = start("exit 3")) {
      ProcessHandle.of(process.pid()).ifPresent(handle -> handle.onExit().join());
      assertEquals(
          "C ended: exit code 3 (it logged nothing)",
          failure(() -> process.request("round", answers::add)));
    }
  }
}
