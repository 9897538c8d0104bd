package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.heddle.platform.testing.SeparateJvm;
import io.heddle.platform.testing.TestShim;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that C's processing of consecutive packets has the same effect as Java's, which is packet
 * by packet.
 */
class WriteBatchReceiverTest {
  @TempDir Path folder;

  @Test
  void rowsInCMatchPacketsInJava() throws Exception {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("WriteBatchReceiverTest -Dheddle.seed=" + seed);
    SeparateJvm.End end =
        TestShim.run(
            folder.resolve("output"), List.of(), WriteBatchReceiverRun.class, Long.toString(seed));
    assumeTrue(end.status() != 3, "this processor has none of the instructions of packets.c");
    assertEquals(0, end.status(), end.output());
  }
}
