package io.heddle.tools.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.tools.wan.host.NodeProcesses;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NetworkNamespace;
import io.heddle.platform.testing.SystemTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an interrupt, which closes from another thread during the set-up, leaves nothing. */
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
                /* Expected, unless the set-up was complete already. */
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
