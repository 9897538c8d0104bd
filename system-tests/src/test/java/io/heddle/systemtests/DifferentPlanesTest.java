package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of two hosts that have different planes when a job starts. The job runs on the planes that
 * both hosts have. Each host has its own keys for planes, and every byte is checked.
 */
@EndsWithin(300)
@SystemTest
final class DifferentPlanesTest {
  private static final int PLANES = 3;
  private static final long SOME_BYTES = 1 << 22;

  @TempDir private Path folder;

  private static void on(Lab lab, int host, String words) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(lab.command(host, List.of(words.split(" "))))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + output);
  }

  private CheckedPair start(Lab lab) throws IOException, InterruptedException {
    Path stats = Files.createDirectory(folder.resolve("stats"));
    return CheckedPair.start(
        lab, folder, Map.of("HEDDLE_STATS_DIR", stats.toString(), "HEDDLE_ROUTES", "none"));
  }

  private static void awaitBytes(Lab lab, CheckedPair job, int plane) throws InterruptedException {
    long before = lab.sentBytesByPlane().get(plane);
    Deadline deadline = Deadline.ofSeconds(60);
    while (lab.sentBytesByPlane().get(plane) - before < SOME_BYTES) {
      job.assertAlive();
      assertEquals(false, deadline.isOver(), job::outputs);
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /*
   * All other ports of the host have no address, as if duplicate address detection had failed or
   * their switch were rebooting. One port gets its address later.
   */
  @Test
  void hostWithOnePlaneConnectsToHostWithAll() throws IOException, InterruptedException {
    BuildOutputs.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000))) {
      on(lab, 1, "ip -6 addr flush dev e1 scope global");
      on(lab, 1, "ip -6 addr flush dev e2 scope global");
      try (CheckedPair job = start(lab)) {
        job.awaitWord(0, "if:e3 is subnet:0003 there (by prefix)");
        job.awaitWord(1, "subnet:0003 is if:e3 there (by prefix)");
        job.awaitWord(
            0,
            "left out: if:e1 (fd00:1:1:1::/64 on e1) here only, if:e2 (fd00:1:1:2::/64 on e2) here"
                + " only");
        awaitBytes(lab, job, 2);
        on(lab, 1, "ip -6 addr add " + LabPlan.address(1, 0) + "/64 dev e1 nodad");
        awaitBytes(lab, job, 2);
        job.endCleanly();
      }
    }
  }

  @Test
  void hostWithExtraPrefixConnectsToHostWithout() throws IOException, InterruptedException {
    BuildOutputs.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000))) {
      on(lab, 1, "ip -6 addr add fd00:1:1:99::7/64 dev e2 nodad");
      try (CheckedPair job = start(lab)) {
        job.awaitWord(0, "if:e2 is subnet:0002 there (by prefix)");
        job.awaitWord(1, "left out: subnet:0099 (fd00:1:1:99::/64 on e2) here only");
        job.awaitAllCarry();
        job.endCleanly();
      }
    }
  }
}
