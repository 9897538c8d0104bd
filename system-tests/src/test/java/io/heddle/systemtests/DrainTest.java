package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.tools.HeddleCommand;
import io.heddle.tools.lab.Lab;
import io.heddle.transport.stats.ProcessStats;
import io.heddle.transport.stats.StatsReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An operator takes a plane out of use, and into use again, while a job runs. */
@Timeout(180)
final class DrainTest {
  private static final String PLANE = "if:e2";

  @TempDir private Path folder;

  @BeforeEach
  void requireBuiltParts() {
    BuiltParts.plugin();
    BuiltParts.allReduce();
    DemoProcess.assume(Lab.Kind.NAMESPACES);
  }

  private record Answer(int code, String output) {}

  private static Answer drain(Path stats, String... words)
      throws IOException, InterruptedException {
    String line = "drain --stats " + stats + " " + String.join(" ", words);
    Process process =
        new ProcessBuilder(HostProcess.java(HeddleCommand.class, line.strip().split(" ")))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Answer(process.waitFor(), said);
  }

  /* The two ranks' statistics, once both have connections. */
  private List<Path> statistics(DemoProcess demo) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      try (Stream<Path> files = Files.walk(folder)) {
        List<Path> found = files.filter(file -> file.toString().endsWith(".stats")).toList();
        if (found.size() == 2 && sent(found, PLANE) > 1 << 24) {
          return found;
        }
      } catch (UncheckedIOException changing) {
        /* Somebody makes or removes a file just now: look again. */
      }
      assertTrue(System.nanoTime() - deadline < 0, "no traffic within 60 s: " + demo.output());
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static long sent(List<Path> files, String plane) {
    return files.stream()
        .flatMap(file -> StatsReader.snapshot(file).rows().stream())
        .filter(ProcessStats.Row::open)
        .filter(row -> row.planeKey().equals(plane))
        .mapToLong(row -> row.acknowledgedBytes())
        .sum();
  }

  private static void awaitSent(List<Path> files, String plane, long more)
      throws InterruptedException {
    long goal = sent(files, plane) + more;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (sent(files, plane) < goal) {
      assertTrue(System.nanoTime() - deadline < 0, "no more bytes on " + plane + " within 30 s");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void aDrainedPlaneCarriesNothingUntilItIsTakenBackAndNoPlaneCountsAsFailed()
      throws IOException, InterruptedException {
    try (DemoProcess demo =
        DemoProcess.start(
            folder,
            "--json",
            "--network",
            "namespaces",
            "--planes",
            "3",
            "--min-bytes",
            "4M",
            "--max-bytes",
            "4M",
            "--iterations",
            "3000")) {
      List<Path> files = statistics(demo);
      Path stats = files.getFirst().toAbsolutePath().getParent();
      Answer drained = drain(stats, PLANE);
      assertEquals(0, drained.code(), drained.output());
      assertTrue(drained.output().contains("plane if:e2: drained; "), drained.output());
      long before = sent(files, PLANE);
      awaitSent(files, "if:e1", 1 << 26);
      assertEquals(before, sent(files, PLANE), "the drained plane went on");
      Answer listed = drain(stats);
      assertTrue(listed.output().contains("plane if:e2: drained; "), listed.output());
      Answer taken = drain(stats, PLANE, "--end");
      assertEquals(0, taken.code(), taken.output());
      awaitSent(files, PLANE, 1 << 24);
      long failovers =
          files.stream()
              .flatMap(file -> StatsReader.snapshot(file).rows().stream())
              .mapToLong(ProcessStats.Row::failovers)
              .sum();
      assertEquals(0, failovers);
      Answer unknown = drain(stats, "if:e9");
      assertEquals(1, unknown.code());
      assertTrue(
          unknown.output().contains("no running job has a plane if:e9; there are: if:e1, if:e2"),
          unknown.output());
      assertEquals(0, demo.exitCode(), demo.output());
      JsonNode report = demo.json();
      assertTrue(report.path("passed").asBoolean(), demo.output());
      assertEquals(0, report.path("wrong").asLong(-1));
    }
  }
}
