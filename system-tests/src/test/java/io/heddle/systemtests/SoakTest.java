package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of short soaks of the real plugin, and of runs that must fail, which show that a soak finds
 * faults.
 */
@EndsWithin(300)
@SystemTest
final class SoakTest {
  private static final long LIMIT_SECONDS = 240;

  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.chaos();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private HostProcess soak(String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("soak", "--verbose"));
    all.addAll(List.of(options));
    return HostProcess.start(
        HeddleRun.command(all.toArray(String[]::new)),
        folder.resolve("soak.log"),
        Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder));
  }

  /* The last three of the six runs use the spray policy "packet". */
  @Test
  void someSeedsPass() throws IOException, InterruptedException {
    try (HostProcess soak = soak("--runs", "6", "--seed", "61")) {
      assertEquals(0, soak.exitCode(LIMIT_SECONDS), soak.outputOrWhyNot());
      assertTrue(soak.output().contains("PASSED: 6 runs, seeds 61 to 66, 0 bad"), soak.output());
    }
  }

  /*
   * With this seed, a link to a spine is cut, a BGP session is reset, and a route daemon is killed.
   */
  @Test
  void fabricSeedsSurviveLostSessionsAndDaemons() throws IOException, InterruptedException {
    Skip.unlessFabric(false);
    try (HostProcess soak = soak("--fabric", "--runs", "1", "--seed", "67")) {
      assertEquals(0, soak.exitCode(LIMIT_SECONDS), soak.outputOrWhyNot());
      for (String fault : List.of("route daemon killed", "BGP session reset", "link to a spine")) {
        assertTrue(soak.output().contains(fault), soak.output());
      }
    }
  }

  /*
   * With these seeds, links go down, planes are cut silently or lose packets, and ranks are
   * stopped. One run uses the spray policy "packet".
   */
  @Test
  void signalsStayBehindDataDuringFailovers() throws IOException, InterruptedException {
    BuildOutputs.oneSidedChaos();
    try (HostProcess soak = soak("--one-sided", "--runs", "6", "--seed", "60")) {
      assertEquals(0, soak.exitCode(LIMIT_SECONDS), soak.outputOrWhyNot());
      assertTrue(soak.output().contains("PASSED: 6 runs, seeds 60 to 65, 0 bad"), soak.output());
    }
  }

  @Test
  void findsEarlySignalAndPrintsSeed() throws IOException, InterruptedException {
    Path driver = corruptingDriver(BuildOutputs.oneSidedChaos(), 0);
    try (HostProcess soak =
        soak("--one-sided", "--runs=1", "--seed=263", "--policy=pinned", "--driver=" + driver)) {
      assertEquals(1, soak.exitCode(LIMIT_SECONDS), soak.outputOrWhyNot());
      assertTrue(soak.output().contains("seed 263: wrong bytes"), soak.output());
      assertTrue(soak.output().contains("its signal is there, and byte"), soak.output());
      assertTrue(
          soak.output().contains("./heddle soak --one-sided --policy pinned --runs 1 --seed 263"),
          soak.output());
    }
  }

  private Path corruptingDriver(Path program, int rank) throws IOException {
    Path driver = folder.resolve("driver");
    Files.writeString(
        driver,
        """
        #!/bin/sh
        case "$*" in *"--rank %s"*) set -- "$@" --spoil ;; esac
        exec '%s' "$@"
        """
            .formatted(rank, program));
    assertTrue(driver.toFile().setExecutable(true));
    return driver;
  }

  /*
   * Rank 1 corrupts some bytes. This seed injects no other faults, and runs long enough (a second)
   * for the corruption.
   */
  @Test
  void findsWrongBytesAndPrintsSeed() throws IOException, InterruptedException {
    Path driver = corruptingDriver(BuildOutputs.chaos(), 1);
    try (HostProcess soak =
        soak("--runs=1", "--seed=263", "--policy=pinned", "--driver=" + driver)) {
      assertEquals(1, soak.exitCode(LIMIT_SECONDS), soak.outputOrWhyNot());
      assertTrue(soak.output().contains("seed 263: wrong bytes"), soak.output());
      assertTrue(
          soak.output().contains("./heddle soak --policy pinned --runs 1 --seed 263"),
          soak.output());
    }
  }
}
