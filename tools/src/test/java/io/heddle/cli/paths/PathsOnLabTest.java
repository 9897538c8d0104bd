package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.fabric.model.HashAlgorithm;
import io.heddle.fabric.model.HashModel;
import io.heddle.fabric.model.JenkinsHash;
import io.heddle.fabric.model.LinuxHash;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.HashLab;
import io.heddle.tools.lab.Skip;
import io.heddle.tools.paths.PathsCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Test of measuring, fitting and picking paths in network namespaces. The switches' counters are
 * the reference.
 */
@EndsWithin(180)
@SystemTest
final class PathsOnLabTest {
  private static HashLab lab;

  @BeforeAll
  static void makeLab() {
    HashLab.refusal().ifPresent(why -> Skip.because("no lab of switches here: " + why));
    lab = HashLab.create(2, 2);
  }

  @AfterAll
  static void removeLab() {
    if (lab != null) {
      lab.close();
    }
  }

  private static PathsCheck check() {
    return new PathsCheck(lab, PathsProgram.start());
  }

  @Test
  void pathsOfCrcAreMeasuredFittedAndPicked() throws Exception {
    PathsCheck.Row row = check().check(HashModel.ecmp(HashAlgorithm.CRC32LSB, 3), true);
    assertTrue(row.passed(), row.toString());
    assertEquals(row.ports(), row.correct());
  }

  @Test
  void hashOfNftablesIsMeasuredAndRejectedByFit() throws Exception {
    PathsCheck.Row row = check().check(new JenkinsHash(3), false);
    assertTrue(row.passed(), row.toString());
    assertEquals(row.ports(), row.predicted(), "the model is nftables' jhash");
  }

  @Test
  void kernelHashIsMeasuredPredictedAndRejectedByFit() throws Exception {
    Path seed = Path.of("/proc/sys/net/ipv4/fib_multipath_hash_seed");
    if (!Files.exists(seed)) {
      Skip.because("this kernel has no " + seed + "; Linux 6.11 and later have");
    }
    PathsCheck.Row row = check().check(new LinuxHash(3), false);
    assertTrue(row.passed(), row.toString());
    assertEquals(row.ports(), row.predicted(), "the model is the kernel's policy 3");
  }

  @Test
  void peerWithoutRouteIsRejectedWithTheRemedy() throws Exception {
    List<String> command = new java.util.ArrayList<>(PathsProgram.start());
    command.addAll(List.of("paths", "measure", "fd00:c::1", "--ports", "4", "--hops", "3"));
    Process process =
        new ProcessBuilder(lab.command("leaf", command)).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(1, process.waitFor(), said);
    assertTrue(said.contains("there is no route to"), said);
  }
}
