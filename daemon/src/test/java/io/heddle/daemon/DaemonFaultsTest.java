package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Log;
import io.heddle.platform.testing.EndsWithin;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a daemon ends when an error ends one of its threads, so that systemd restarts it. */
@EndsWithin(60)
class DaemonFaultsTest {
  @ParameterizedTest
  @ValueSource(strings = {"platform", "virtual"})
  void processEndsWithExitCodeAndOneLine(String kind) throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Daemon.class.getName(),
                kind)
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(DaemonFaults.EXIT_CODE, process.waitFor(), said);
    assertTrue(said.contains("the thread \"one\" ends by: java.lang.StackOverflowError"), said);
    assertTrue(said.contains("ends with exit code 70"), said);
  }

  /** Daemon whose main thread never ends, and whose other thread fails. */
  static final class Daemon {
    private Daemon() {}

    public static void main(String[] arguments) throws InterruptedException {
      DaemonFaults.exitOnUncaughtError("a daemon", Log.toStandardError());
      Thread.Builder builder =
          arguments[0].equals("virtual") ? Thread.ofVirtual() : Thread.ofPlatform();
      builder
          .name("one")
          .start(() -> {
            throw new StackOverflowError("on purpose");
          });
      new CountDownLatch(1).await();
    }
  }
}
