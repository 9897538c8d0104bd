package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a publisher in another process, which is killed at arbitrary moments. */
@EndsWithin(120)
class KilledPublisherTest {
  private static final int KILLS = 4;

  @TempDir Path folder;

  @Test
  void readersSeeWholeStatesWheneverThePublisherDies() throws Exception {
    Path path = folder.resolve("routes");
    for (int kill = 0; kill < KILLS; kill++) {
      Process process = PublisherProcess.start(path, 0);
      try (BufferedReader out =
          new BufferedReader(new InputStreamReader(process.getInputStream()))) {
        assertEquals("live", out.readLine());
        try (RouteReader reader = open(path)) {
          int[] seen = new int[1];
          await(() -> (seen[0] += countWholeAnswers(reader)) > 200);
          process.destroyForcibly().waitFor();
          boolean readable = countWholeAnswers(reader) > 0;
          assertEquals(
              !readable,
              SequenceLock.isBeingChanged(reader.sequence()),
              "there is no answer just where it died in mid-change");
          await(() -> reader.liveness().state() == Liveness.State.SILENT);
        }
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  void lookUpFailsWithoutHangingAfterADeathInMidChange() throws Exception {
    Path path = folder.resolve("routes");
    assertEquals(PublisherProcess.DIED, PublisherProcess.start(path, 50).waitFor());
    try (RouteReader reader = open(path)) {
      Deadline deadline = Deadline.ofSeconds(2);
      assertEquals(0, countWholeAnswers(reader));
      assertEquals(List.of(), reader.planes());
      assertFalse(deadline.isOver(), () -> "a look-up in a dead publisher's file took " + deadline);
      await(() -> reader.liveness().state() == Liveness.State.SILENT);
    }
  }

  private static RouteReader open(Path path) {
    return Objects.requireNonNull(RouteReader.open(path, NanoClock.SYSTEM));
  }

  /*
   * Counts the successful look-ups before the first failure. In each state of the file, all hosts
   * and planes have the same figure. The hosts are looked up one after the other, so a later host
   * may show a newer state, but never an older one.
   */
  private static int countWholeAnswers(RouteReader reader) {
    RouteAnswer answer = new RouteAnswer();
    long generation = 0;
    int answers = 0;
    for (int host = 0; host < PublisherProcess.HOSTS; host += 70) {
      if (!reader.resolve(PublisherProcess.HIGH, host, answer)) {
        return answers;
      }
      assertTrue(answer.generation() >= generation, "an older state after a newer one");
      generation = answer.generation();
      assertEquals(PublisherProcess.PLANES, answer.planes());
      for (int plane = 1; plane < answer.planes(); plane++) {
        assertEquals(answer.cells[0], answer.cells[plane], "a torn entry");
      }
      answers++;
    }
    return answers;
  }

  @Test
  void newDaemonTakesOverFromAKilledOne() throws Exception {
    Path path = folder.resolve("routes");
    Process process = PublisherProcess.start(path, 0);
    try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      assertEquals("live", out.readLine());
    } finally {
      process.destroyForcibly().waitFor();
    }
    try (RouteReader before = open(path);
        RoutesTestBed bed = RoutesTestBed.of(folder, "a")) {
      bed.route("::/0", 0, 3);
      assertEquals(Liveness.State.SUPERSEDED, before.liveness().state());
      assertEquals("3", bed.weights(bed.reader(), "fd00::1"));
    }
  }

  @Test
  void fullDiskIsReportedAndKillsNoProcess() throws IOException, InterruptedException {
    Path mount = Files.createDirectory(folder.resolve("small"));
    Process process =
        PublisherProcess.start(
            mount.resolve("routes"),
            0,
            "unshare",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs -o size=20k none \"$0\" || { echo no mount; exit 77; }; exec \"$@\"",
            mount.toString());
    String output = new String(process.getInputStream().readAllBytes());
    int code = process.waitFor();
    if (output.contains("no mount") || output.contains("unshare:")) {
      System.out.println("skipped: no file system can be mounted here: " + output);
      Assumptions.abort(output);
    }
    assertEquals(1, code, output);
    assertTrue(output.contains("the routes file can't be written: " + mount), output);
    assertTrue(output.contains("No space left on device"), output);
    assertTrue(output.contains("make room there, or name another place"), output);
  }

  private static void await(BooleanSupplier there) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(20);
    while (!there.getAsBoolean()) {
      assertTrue(!deadline.isOver(), "it didn't come within 20 s");
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
