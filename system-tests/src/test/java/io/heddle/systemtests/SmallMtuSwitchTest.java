package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Test of a job over a switch that has a smaller MTU than the hosts' interfaces and silently drops
 * longer packets. The device must send smaller packets, no queue pair may fail, and every element
 * must be right.
 */
@EndsWithin(180)
@SystemTest
final class SmallMtuSwitchTest {
  private static final long LIMIT_SECONDS = 60;
  /*
   * Length of the longest packet that the switch passes, in bytes: enough for packets of RoCE's
   * path MTU of 4096.
   */
  private static final int LONGEST = 4300;
  private static final long ENOUGH_BYTES = 64 << 20;

  @TempDir private Path folder;

  @BeforeEach
  void assumeNamespaces() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private HostProcess rank(Lab lab, int rank, String policy) throws IOException {
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft", "HEDDLE_POLICY", policy),
        HostProcess.allReduce(
            folder,
            rank,
            2,
            "--min-bytes",
            "4194304",
            "--max-bytes",
            "4194304",
            "--iterations",
            "120",
            "--timeout-seconds",
            "30"));
  }

  private static void narrow(Lab lab) {
    PlaneFaults faults = new PlaneFaults(lab);
    for (int plane = 0; plane < lab.plan().planes(); plane++) {
      faults.narrow(0, plane, LONGEST);
      faults.narrow(1, plane, LONGEST);
    }
  }

  private static long sent(Lab lab) {
    return lab.sentBytesByPlane().stream().mapToLong(Long::longValue).sum();
  }

  @ParameterizedTest
  @CsvSource({
    "true, 1, spray",
    "true, 4, packet",
    "false, 1, spray",
    "false, 4, spray",
    "false, 4, packet",
  })
  @WholeRunOnly(alwaysRunRows = {2, 4})
  void jobRunsWithoutFailover(boolean fromTheStart, int planes, String policy) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, planes, 9000))) {
      if (fromTheStart) {
        narrow(lab);
      }
      try (HostProcess first = rank(lab, 0, policy);
          HostProcess second = rank(lab, 1, policy)) {
        while (!fromTheStart && first.isAlive() && sent(lab) < ENOUGH_BYTES) {
          Thread.sleep(1);
        }
        assertTrue(fromTheStart || first.isAlive(), first::outputOrWhyNot);
        long before = sent(lab);
        if (!fromTheStart) {
          narrow(lab);
        }
        int left = first.exitCode(LIMIT_SECONDS);
        int right = second.exitCode(LIMIT_SECONDS);
        String output = "rank 0:\n" + first.output() + "rank 1:\n" + second.output();
        assertEquals(0, left, output);
        assertEquals(0, right, output);
        assertTrue(output.contains("\"event\":\"end\",\"rank\":0,\"wrong\":0"), output);
        assertTrue(output.contains("packets of 8704 bytes don't pass"), output);
        assertFalse(output.contains("moving off"), output);
        assertTrue(sent(lab) - before > ENOUGH_BYTES, output);
      }
    }
  }
}
