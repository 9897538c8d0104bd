package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.BridgeHealth;
import io.heddle.daemon.ServiceSupervisor;
import io.heddle.platform.Log;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NotifySocket;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of a bridge's notifications to systemd. */
@EndsWithin(120)
@SystemTest
final class BridgeServiceTest {
  private static final long POLL_NS = 1_000_000;
  private static final int SOME_LOOKS = 5;

  @TempDir private Path folder;

  private final AtomicLong beats = new AtomicLong();
  private final AtomicBoolean hangs = new AtomicBoolean();
  private final AtomicLong checks = new AtomicLong();
  private final AtomicReference<String> trouble = new AtomicReference<>();

  private BridgeService start(NotifySocket systemd, String name, String watchdogUs) {
    ServiceSupervisor manager =
        ServiceSupervisor.of(
            Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", watchdogUs),
            ProcessHandle.current().pid(),
            Log.toStandardError());
    assertFalse(systemd.hasMore());
    return new BridgeService(
        manager, new BridgeHealth(this::beat, this::check), Log.toStandardError());
  }

  private long beat() {
    return hangs.get() ? beats.get() : beats.incrementAndGet();
  }

  private String check() {
    checks.incrementAndGet();
    return trouble.get();
  }

  private void awaitChecks() {
    long wanted = checks.get() + SOME_LOOKS;
    Deadline deadline = Deadline.ofSeconds(30);
    while (checks.get() < wanted) {
      assertFalse(deadline.isOver(), () -> checks + " checks within " + deadline);
      LockSupport.parkNanos(POLL_NS);
    }
  }

  @Test
  void becomesReadyOnceBothFabricsCarry() {
    String name = folder.resolve("notify").toString();
    try (NotifySocket systemd = NotifySocket.at(name)) {
      /*
       * The short watchdog interval makes checks frequent. A bridge without progress sends no
       * watchdog notification.
       */
      hangs.set(true);
      try (BridgeService service = start(systemd, name, "40000")) {
        awaitChecks();
        assertFalse(systemd.hasMore(), "the fabrics aren't checked yet");
        trouble.set("fabric b: e2 has no link");
        assertEquals("STATUS=fabric b: e2 has no link", systemd.awaitMessage());
        service.reload(checks::get);
        awaitChecks();
        assertFalse(
            systemd.hasMore(), "one notification per state, and none of a reload before READY");
        trouble.set("");
        assertEquals("READY=1\nSTATUS=both fabrics carry", systemd.awaitMessage());
        trouble.set("fabric a: e1 has no link");
        assertEquals("STATUS=fabric a: e1 has no link", systemd.awaitMessage());
        service.reload(checks::get);
        assertTrue(systemd.awaitMessage().startsWith("RELOADING=1\nMONOTONIC_USEC="));
        assertEquals("READY=1\nSTATUS=fabric a: e1 has no link", systemd.awaitMessage());
      }
      assertEquals("STOPPING=1", systemd.awaitMessage());
    }
  }

  @Test
  void hungDataThreadStopsWatchdogNotifications() {
    String name = "@heddle-bridge-test-" + ProcessHandle.current().pid();
    try (NotifySocket systemd = NotifySocket.at(name);
        BridgeService service = start(systemd, name, "40000")) {
      trouble.set("");
      systemd.awaitMessage("WATCHDOG=1");
      systemd.awaitMessage("WATCHDOG=1");
      hangs.set(true);
      awaitChecks();
      while (systemd.hasMore()) {
        systemd.awaitMessage();
      }
      awaitChecks();
      assertFalse(systemd.hasMore(), "the thread hangs");
      hangs.set(false);
      systemd.awaitMessage("WATCHDOG=1");
      service.reload(beats::get);
    }
  }

  @Test
  void notifiesStartReloadAndEnd() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    String name = folder.resolve("notify").toString();
    Path config =
        Files.write(
            folder.resolve("bridge.conf"),
            List.of(
                "name = test\nstatus = "
                    + folder.resolve("status")
                    + "\ncontrol = "
                    + folder.resolve("control"),
                "[fabric a]\ninterface = e1",
                "[fabric b]\ninterface = e2",
                "[group 239.1.1.1]"));
    Map<String, String> environment = Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "10000000");
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500);
        NotifySocket systemd = NotifySocket.at(name);
        BridgeProcess bridge = BridgeProcess.start(fabrics, 0, config, environment)) {
      assertEquals("READY=1\nSTATUS=both fabrics carry", systemd.awaitMessage("READY=1"));
      systemd.awaitMessage("WATCHDOG=1");
      bridge.signal("HUP");
      systemd.awaitMessage("RELOADING=1\nMONOTONIC_USEC=");
      systemd.awaitMessage("READY=1");
      bridge.signal("TERM");
      systemd.awaitMessage("STOPPING=1");
      assertEquals(143, bridge.await());
    }
  }
}
