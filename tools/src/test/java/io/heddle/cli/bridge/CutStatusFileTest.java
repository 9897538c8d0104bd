package io.heddle.cli.bridge;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of a bridge whose status file is truncated while the bridge writes counters to it. */
@EndsWithin(120)
@SystemTest
class CutStatusFileTest {
  @TempDir private Path folder;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @Test
  void reportsLossAndStillCloses() throws Exception {
    Path status = folder.resolve("status");
    CountDownLatch lost = new CountDownLatch(1);
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500)) {
      Bridge bridge =
          BridgeDemo.inNamespace(
              fabrics.namespace(0),
              BridgeConfigParser.parse(
                  "bridge.conf",
                  List.of(
                      "name = test\nstatus = " + status,
                      "[fabric a]\ninterface = e1\naddress = 10.1.0.254",
                      "[fabric b]\ninterface = e2\naddress = 10.2.0.254",
                      "[group 239.1.1.1]")),
              lost::countDown);
      cut(status);
      lost.await();
      end(bridge);
    }
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
  private static void end(Bridge bridge) {
    try {
      bridge.close();
    } catch (InternalError expected) {
      System.out.println("as expected: " + expected.getMessage());
    }
  }
}
