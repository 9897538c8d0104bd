package io.heddle.softdevice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.SeparateJvm;
import io.heddle.platform.testing.TestShim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The data path allocates nothing once it is warm, whether Java's second compiler takes part or not
 * (on fewer than four processors the plugin has the first one alone).
 *
 * <p>By the plugin's own system calls: those of {@code LinuxCalls}, which tools use, have Java
 * slice a segment at each call, which the second compiler takes away or not, as its budget for the
 * method around it allows.
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
      assertEquals(0, end.status(), end.printed());
      assertEquals(
          "0", end.printed().strip(), "bytes allocated by 1000 operations, compilers to " + level);
    }
  }
}
