package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SeparateJvm;
import io.heddle.platform.testing.TestShim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Test that the measured loops allocate nothing per message, with and without Java's second
 * compiler.
 */
@EndsWithin(60)
final class RunAllocationTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "false, write_bw -s 4096",
    "false, send_bw -s 64 -b",
    "true, write_bw -s 8192",
  })
  void messagesAllocateNothing(boolean sprays, String command) throws Exception {
    for (int level : new int[] {1, 4}) {
      SeparateJvm.End end =
          TestShim.run(
              folder.resolve("output"),
              List.of("-XX:TieredStopAtLevel=" + level),
              AllocationRun.class,
              Boolean.toString(sprays),
              command);
      assertEquals(0, end.status(), end.output());
      long allocated = Long.parseLong(end.output().lines().reduce("", (first, last) -> last));
      assertTrue(
          allocated < AllocationRun.ALLOWED_BYTES,
          command + " allocated " + allocated + " bytes, compilers to " + level);
    }
  }
}
