package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.SeparateJvm;
import io.heddle.platform.testing.TestShim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that the warm data path allocates nothing, with and without C2 (on fewer than four
 * processors the plugin uses C1 only).
 *
 * <p>It uses the shim's system calls. The data path of tools uses {@code LinuxCalls} instead, which
 * slices a segment at each call; C2 eliminates this allocation only within its inlining budget.
 */
class AllocationTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "64, false, ''",
    "61440, false, ''",
    "61440, true, ''",
    "61440, false, 'loss=0.01'",
  })
  void postingAndPollingAllocateNothing(int bytes, boolean standardPeers, String faults)
      throws Exception {
    for (int level : new int[] {1, 4}) {
      SeparateJvm.End end =
          TestShim.run(
              folder.resolve("output"),
              List.of("-XX:TieredStopAtLevel=" + level),
              AllocationRun.class,
              Integer.toString(bytes),
              Boolean.toString(standardPeers),
              faults);
      assertEquals(0, end.status(), end.output());
      assertEquals(
          "0", end.output().strip(), "bytes allocated by 1000 operations, compilers to " + level);
    }
  }
}
