package io.heddle.tools.wan.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of the end of a demo's daemons. */
final class NodeProcessesTest {
  @TempDir private Path folder;

  @Test
  void nothingStartsAfterTheDemoHasEnded() {
    try (NodeProcesses processes = new NodeProcesses(folder, NetworkNamespace::new)) {
      processes.close();
      HeddleException refused =
          assertThrows(
              HeddleException.class, () -> processes.start("late", "gw1", List.of("sleep", "9")));
      assertEquals("the demo was ended before late was started", refused.getMessage());
    }
  }
}
