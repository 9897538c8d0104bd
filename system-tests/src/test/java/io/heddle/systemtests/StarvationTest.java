package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.Skip;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ranks that are stopped, or wait for their processors: none of their planes has failed by that,
 * nor has a control channel. The hosts have nothing but planes.
 */
@EndsWithin(300)
final class StarvationTest {
  private static final int STOPPED_SECONDS = 3;
  private static final int BUSY_SECONDS = 10;
  private static final int BUSY_PROCESSES = 20;

  /* What a cut plane's retries take, in time in which the ranks run. */
  private static final int FOUND_SECONDS = 1;

  private static final long SOME_BYTES = 1 << 22;

  @TempDir private Path folder;

  @BeforeEach
  void requireBuiltParts() {
    BuiltParts.plugin();
    BuiltParts.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @Test
  void aRankThatIsStoppedForThreeSecondsCostsNoPlaneNoChannelAndNoByte()
      throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      String rank = Long.toString(ranks(demo).getFirst().pid());
      /* Between two messages nobody waits for it. */
      Patience patience = Patience.ofSeconds(60);
      while (lines("is silent on all planes").isEmpty()) {
        assertTrue(!patience.isOver(), "no wait is told of");
        run("kill", "-STOP", rank);
        try {
          TimeUnit.SECONDS.sleep(STOPPED_SECONDS);
        } finally {
          run("kill", "-CONT", rank);
        }
        demo.awaitSent("if:e1", SOME_BYTES);
      }
      /* With its end the logs go. */
      assertEquals(List.of(), lines("moving off"));
      assertEquals(List.of(), lines("made anew"));
      Patience ending = Patience.ofSeconds(20);
      while (lines("answers again").isEmpty()) {
        assertTrue(!ending.isOver(), "the end of the wait is not told of");
        TimeUnit.MILLISECONDS.sleep(20);
      }
      demo.assertAllRight();
    }
  }

  @Test
  void ranksThatWaitForTheirProcessorsLeaveNoPlaneButTheOneThatIsCut()
      throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      List<Process> busy = new ArrayList<>();
      try {
        for (int i = 0; i < BUSY_PROCESSES; i++) {
          busy.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
        }
        TimeUnit.SECONDS.sleep(BUSY_SECONDS);
        assertEquals(0, demo.failovers(), () -> lines("moving off").toString());
        String host = demo.process().namespaces().getFirst();
        filter(host, "add table inet cut");
        filter(host, "add chain inet cut in { type filter hook input priority 0; }");
        filter(host, "add rule inet cut in iifname e2 drop");
        long startNs = System.nanoTime();
        Patience patience = Patience.ofSeconds(FOUND_SECONDS);
        while (demo.failovers() == 0) {
          assertTrue(!patience.isOver(), "the cut isn't found");
          TimeUnit.MILLISECONDS.sleep(5);
        }
        System.out.printf(
            Locale.ROOT,
            "StarvationTest: with %d busy processes a cut plane is left after %d ms%n",
            BUSY_PROCESSES,
            (System.nanoTime() - startNs) / 1_000_000);
        filter(host, "delete table inet cut");
        assertEquals(
            List.of(),
            lines("moving off").stream().filter(line -> !line.contains("plane if:e2")).toList());
        assertEquals(List.of(), lines("made anew"));
      } finally {
        busy.forEach(Process::destroyForcibly);
      }
      demo.assertAllRight();
    }
  }

  private static List<ProcessHandle> ranks(BusyDemo demo) {
    String program = BuiltParts.allReduce().getFileName().toString();
    List<ProcessHandle> found =
        demo.process().descendants().stream()
            .filter(each -> each.info().command().orElse("").endsWith("/" + program))
            .toList();
    assertEquals(2, found.size(), () -> "ranks among " + demo.process().descendants());
    return found;
  }

  /** What the ranks have logged with this in it. */
  private List<String> lines(String part) {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".log")).toList()) {
        Files.readAllLines(file).stream().filter(line -> line.contains(part)).forEach(found::add);
      }
    } catch (IOException unreadable) {
      throw new AssertionError(unreadable);
    }
    return found;
  }

  private static void filter(String namespace, String words)
      throws IOException, InterruptedException {
    run("ip", "netns", "exec", namespace, "nft", words);
  }

  private static void run(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + said);
  }
}
