package io.heddle.tools.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NetworkNamespace;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.wan.host.NodeProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that an interrupted set-up of the demo leaves nothing. The interrupt closes the demo from
 * another thread.
 */
@EndsWithin(120)
@SystemTest
final class WanEndTest {
  private static final List<String> NODES =
      List.of(WanNodes.H1, WanNodes.H2, "gw1", "gw2", WanNodes.CONTROLLER, "p1", "p2", "p3");

  @TempDir private Path folder;

  @BeforeEach
  void requireNamespaces() {
    NetworkNamespace.assumeAvailable();
  }

  private static boolean isThere(WanNodes nodes, String node) {
    return Files.exists(Path.of("/run/netns", nodes.namespace(node)));
  }

  @Test
  void nodesClosedDuringSetUpLeaveNothing() throws Exception {
    WanNodes nodes = new WanNodes();
    Thread setUp =
        Thread.ofPlatform()
            .start(() -> {
              try {
                nodes.setUp();
              } catch (HeddleException ended) {
                /* Expected if the set-up wasn't complete when it was closed. */
              }
            });
    Deadline deadline = Deadline.ofSeconds(30);
    while (!isThere(nodes, NODES.getFirst())) {
      assertFalse(deadline.isOver(), "no namespace is made");
      Thread.sleep(1);
    }
    nodes.close();
    setUp.join();
    assertEquals(List.of(), NODES.stream().filter(each -> isThere(nodes, each)).toList());
  }

  @Test
  void nothingStartsAfterTheDemoHasEnded() {
    try (WanNodes nodes = new WanNodes();
        NodeProcesses processes = new NodeProcesses(folder, nodes::namespace)) {
      processes.close();
      HeddleException refused =
          assertThrows(
              HeddleException.class, () -> processes.start("late", "gw1", List.of("sleep", "9")));
      assertEquals("the demo was ended before late was started", refused.getMessage());
    }
  }
}
