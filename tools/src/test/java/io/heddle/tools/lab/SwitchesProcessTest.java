package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link SwitchesProcess}: whether the process of a lab's switches runs. */
@SystemTest
class SwitchesProcessTest {
  @TempDir private Path folder;

  @Test
  void reusedProcessNumberIsNotTheSwitchesProcess() throws IOException {
    assertEquals(0, SwitchesProcess.running(folder));
    SwitchesProcess.markReady(folder);
    assertEquals(0, SwitchesProcess.running(folder));
  }
}
