package io.heddle.cli.bridge;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Test of a bridge whose status file is truncated while the bridge writes counters to it. */
@EndsWithin(120)
@SystemTest
class CutStatusFileTest extends BridgedFabrics {
  @Test
  void reportsLossAndStillCloses() throws Exception {
    CountDownLatch lost = new CountDownLatch(1);
    open(1500);
    bridge =
        BridgeDemo.inNamespace(fabrics.namespace(0), config("[group 239.1.1.1]"), lost::countDown);
    cut(folder.resolve("status"));
    lost.await();
    end();
  }

  private static void cut(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(0);
    }
  }

  /*
   * Closes the bridge, which can't write its last heartbeat to the truncated file either. The JVM
   * may report that as an InternalError here or elsewhere.
   */
  private void end() {
    try {
      bridge.close();
    } catch (InternalError expected) {
      System.out.println("as expected: " + expected.getMessage());
    }
  }
}
