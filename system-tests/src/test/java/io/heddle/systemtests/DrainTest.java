package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.HeddleCommand;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An operator takes a plane out of use, and into use again, while a job runs. */
@Timeout(300)
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

  @Test
  void aDrainedPlaneCarriesNothingUntilItIsTakenBackAndNoPlaneCountsAsFailed()
      throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      Path stats = demo.statisticsFolder();
      Answer drained = drain(stats, PLANE);
      assertEquals(0, drained.code(), drained.output());
      assertTrue(drained.output().contains("plane if:e2: drained; "), drained.output());
      long before = demo.sent(PLANE);
      demo.awaitSent("if:e1", 1 << 26);
      assertEquals(before, demo.sent(PLANE), "the drained plane went on");
      Answer listed = drain(stats);
      assertTrue(listed.output().contains("plane if:e2: drained; "), listed.output());
      Answer taken = drain(stats, PLANE, "--end");
      assertEquals(0, taken.code(), taken.output());
      demo.awaitSent(PLANE, 1 << 24);
      assertEquals(0, demo.failovers());
      Answer unknown = drain(stats, "if:e9");
      assertEquals(1, unknown.code());
      assertTrue(
          unknown.output().contains("no running job has a plane if:e9; there are: if:e1, if:e2"),
          unknown.output());
      demo.assertAllRight();
    }
  }
}
