package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.transport.data.SubFlow;
import io.heddle.transport.failover.PlaneState;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of a probe that reaches a receiver after the receiver has closed its end. */
class RefusedProbeTest {
  private static final List<Integer> FOUR = List.of(1, 2, 3, 4);

  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @TempDir Path folder;

  @Test
  void probeThatAClosedReceiverRefusesIsNoFailureOfTheConnection() {
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, Map.of())) {
      Ends.Link link = ends.connect();
      Traffic traffic = new Traffic(ends, link, seed);
      traffic.run(3);
      traffic.finish();
      link.receiver().close();
      SubFlow probing = link.sender().flows()[2];
      link.sender().baton().take();
      assertEquals(0, probing.probe(link.sender().nowNs()));
      link.sender().baton().release();
      Ends.await(
          "the refused probe",
          () -> {
            assertEquals(0, link.sender().progress(), ends.log::toString);
            return link.sending().failover().state(2) != PlaneState.UP;
          });
      link.sender().close();
      link.listener().close();
    }
  }
}
