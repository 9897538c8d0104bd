package io.heddle.cli.kit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One daemon at a socket. */
class DaemonStartTest {
  private static final QuestionSocket.Daemon DAEMON =
      new QuestionSocket.Daemon("test", "tester", "heddle test", "rw-------");

  @TempDir private Path folder;

  @Test
  void secondOneIsRefusedWhileTheFirstListens() {
    Path at = folder.resolve("test.sock");
    assertDoesNotThrow(() -> DaemonStart.requireAlone(DAEMON, at));
    try (QuestionSocket first =
        QuestionSocket.listen(DAEMON, at, question -> "answer", (level, sentence) -> {})) {
      HeddleException refused =
          assertThrows(HeddleException.class, () -> DaemonStart.requireAlone(DAEMON, at));
      assertEquals(
          "a tester runs already and listens at " + at + "; end it first", refused.getMessage());
      assertEquals("\"answer\"", QuestionSocket.ask(DAEMON, at, "anything").strip());
    }
    assertDoesNotThrow(() -> DaemonStart.requireAlone(DAEMON, at));
  }

  @Test
  void socketThatAKilledOneLeftKeepsNobodyAway() throws Exception {
    Path at = folder.resolve("test.sock");
    try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      killed.bind(UnixDomainSocketAddress.of(at));
    }
    assertTrue(Files.exists(at));
    assertDoesNotThrow(() -> DaemonStart.requireAlone(DAEMON, at));
  }
}
