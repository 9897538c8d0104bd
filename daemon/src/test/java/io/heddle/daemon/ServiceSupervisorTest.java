package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NotifySocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the datagrams to systemd's socket, which has a path or an abstract name. */
@EndsWithin(60)
final class ServiceSupervisorTest {
  private static final long PROCESS = 4711;

  @TempDir private Path folder;
  private final List<String> log = new ArrayList<>();

  private ServiceSupervisor of(Map<String, String> environment) {
    return ServiceSupervisor.of(environment, PROCESS, (level, line) -> log.add(line));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyStateIsOneDatagram(boolean abstractName) {
    String name =
        abstractName
            ? "@heddle-test-" + ProcessHandle.current().pid()
            : folder.resolve("notify").toString();
    try (NotifySocket systemd = NotifySocket.at(name)) {
      ServiceSupervisor manager = of(Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "3000000"));
      assertEquals(3_000_000_000L, manager.watchdogNs());
      manager.ready("two\nlines");
      assertEquals("READY=1\nSTATUS=two lines", systemd.awaitMessage());
      manager.notifyWatchdog();
      assertEquals("WATCHDOG=1", systemd.awaitMessage());
      long before = System.nanoTime() / 1000;
      manager.reloading();
      String[] reloading = systemd.awaitMessage().split("=|\n");
      assertEquals("RELOADING", reloading[0]);
      assertEquals("MONOTONIC_USEC", reloading[2]);
      long at = Long.parseLong(reloading[3]);
      assertTrue(at >= before && at <= System.nanoTime() / 1000, () -> before + " " + at);
      manager.status("well");
      assertEquals("STATUS=well", systemd.awaitMessage());
      manager.stopping();
      assertEquals("STOPPING=1", systemd.awaitMessage());
    }
    assertEquals(List.of(), log);
  }

  @Test
  void missingSocketIsLoggedOncePerOutage() {
    String name = folder.resolve("notify").toString();
    ServiceSupervisor manager = of(Map.of("NOTIFY_SOCKET", name));
    manager.notifyWatchdog();
    manager.notifyWatchdog();
    assertEquals(1, log.size(), log.toString());
    assertTrue(log.getFirst().startsWith("systemd can't be notified at " + name + ": ENOENT"));
    try (NotifySocket systemd = NotifySocket.at(name)) {
      manager.notifyWatchdog();
      assertEquals("WATCHDOG=1", systemd.awaitMessage());
    }
    manager.notifyWatchdog();
    assertEquals(2, log.size(), log.toString());
  }

  @Test
  void nothingIsSentWithoutSystemdsVariables() {
    ServiceSupervisor none = of(Map.of("WATCHDOG_USEC", "5"));
    assertFalse(none.exists());
    assertEquals(0, none.watchdogNs());
    none.ready("well");
    Map<String, String> others =
        Map.of("NOTIFY_SOCKET", "/nowhere", "WATCHDOG_USEC", "5", "WATCHDOG_PID", "1");
    assertEquals(0, of(others).watchdogNs());
    assertThrows(HeddleException.class, () -> of(Map.of("NOTIFY_SOCKET", "vsock:2:3")));
    assertThrows(
        HeddleException.class, () -> of(Map.of("NOTIFY_SOCKET", "/x", "WATCHDOG_USEC", "soon")));
  }
}
