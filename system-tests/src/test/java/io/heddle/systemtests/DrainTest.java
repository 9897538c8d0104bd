package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@code heddle drain}: a plane is drained and taken back into use while a job runs. */
@EndsWithin(300)
@SystemTest
final class DrainTest {
  private static final String PLANE = "if:e2";

  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private static HeddleRun.Result drain(Path stats, String... words)
      throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of("drain", "--stats", stats.toString()));
    line.addAll(List.of(words));
    return HeddleRun.run(line.toArray(String[]::new));
  }

  @Test
  void drainedPlaneIsIdleUntilUndrainedWithoutFailover() throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      Path stats = demo.statisticsFolder();
      HeddleRun.Result drained = drain(stats, PLANE);
      assertEquals(0, drained.exitCode(), drained.text());
      assertTrue(drained.text().contains("plane if:e2: drained; "), drained.text());
      long before = demo.sent(PLANE);
      demo.awaitSent("if:e1", 1 << 26);
      assertEquals(before, demo.sent(PLANE), "the drained plane went on");
      HeddleRun.Result listed = drain(stats);
      assertTrue(listed.text().contains("plane if:e2: drained; "), listed.text());
      HeddleRun.Result taken = drain(stats, PLANE, "--end");
      assertEquals(0, taken.exitCode(), taken.text());
      demo.awaitSent(PLANE, 1 << 24);
      assertEquals(0, demo.failovers());
      HeddleRun.Result unknown = drain(stats, "if:e9");
      assertEquals(1, unknown.exitCode());
      assertTrue(
          unknown.text().contains("no running job has a plane if:e9; there are: if:e1, if:e2"),
          unknown.text());
      demo.assertAllRight();
    }
  }
}
