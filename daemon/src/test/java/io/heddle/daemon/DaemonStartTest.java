package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that only one daemon uses a socket. */
class DaemonStartTest {
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("test", "tester", "heddle test", "rw-------");

  @TempDir private Path folder;

  @Test
  void secondDaemonIsRefusedWhileTheFirstListens() {
    Path at = folder.resolve("test.sock");
    assertDoesNotThrow(() -> DaemonStart.requireNotRunning(DAEMON, at));
    try (ControlSocket first =
        ControlSocket.listen(DAEMON, at, question -> "\"answer\"", (level, sentence) -> {})) {
      HeddleException refused =
          assertThrows(HeddleException.class, () -> DaemonStart.requireNotRunning(DAEMON, at));
      assertEquals(
          "a tester runs already and listens at " + at + "; end it first", refused.getMessage());
      assertEquals("\"answer\"", ControlSocket.request(DAEMON, at, "anything").strip());
    }
    assertDoesNotThrow(() -> DaemonStart.requireNotRunning(DAEMON, at));
  }

  @Test
  void socketLeftByAKilledDaemonIsNoObstacle() throws Exception {
    Path at = folder.resolve("test.sock");
    try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      killed.bind(UnixDomainSocketAddress.of(at));
    }
    assertTrue(Files.exists(at));
    assertDoesNotThrow(() -> DaemonStart.requireNotRunning(DAEMON, at));
  }

  @Test
  void failedStepEndsWhatHasStarted() {
    List<String> ended = new ArrayList<>();
    assertEquals("made", DaemonStart.orEnd(() -> ended.add("early"), () -> "made"));
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () ->
                DaemonStart.orEnd(
                    () -> {
                      ended.add("once");
                      throw new IllegalStateException("the end fails too");
                    },
                    () -> {
                      throw new HeddleException("no socket");
                    }));
    assertEquals("no socket", refused.getMessage());
    assertEquals(List.of("once"), ended);
  }

  @ParameterizedTest
  @CsvSource({
    "--default-signal=HUP, reload, read again",
    "--default-signal=HUP, ignore, 'SIGHUP changes nothing: '",
    "--ignore-signal=HUP, reload, 'SIGHUP was ignored when this process began'",
  })
  void hangUpSignalEndsNoDaemon(String option, String mode, String told) throws Exception {
    Process program =
        new ProcessBuilder(
                "env",
                option,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                HangUpProgram.class.getName(),
                mode)
            .redirectErrorStream(true)
            .start();
    String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, program.waitFor(), said);
    assertTrue(said.startsWith(told), said);
  }
}
