package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.daemon.ControlSocket;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.NotifySocket;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of a bridge under all restrictions of its systemd unit that can be imitated without systemd:
 * user, capabilities, mounts and system calls. The bridge performs every operation for which the
 * unit has a permission.
 */
@EndsWithin(180)
@SystemTest
final class BridgeUnitTest {
  private static final String UNIT = "heddle-bridge";
  private static final int BRIDGE = 0;
  private static final int HOST = 1;
  private static final int LIMIT_SECONDS = 60;
  private static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon(UNIT, "bridge", "heddle bridge run", "rw-------");

  @TempDir private Path folder;
  private Lab lab;
  private Path runtime;

  private HostProcess start(
      int rank, String log, Map<String, String> environment, List<String> command)
      throws IOException {
    return HostProcess.start(lab, rank, folder.resolve(log), environment, command);
  }

  private void run(int rank, List<String> command) throws Exception {
    try (HostProcess process = start(rank, "log", Map.of(), command)) {
      assertEquals(0, process.exitCode(LIMIT_SECONDS), process::outputOrWhyNot);
    }
  }

  /*
   * Returns the command line of a command from the built jar, since the unit may hide the tests'
   * class folder.
   */
  private static List<String> heddle(List<String> wrapper, String... words) {
    /* The test's parent process may ignore SIGHUP (nohup), and the bridge would inherit that. */
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
    command.addAll(wrapper);
    command.addAll(
        List.of(
            "sh",
            BuildOutputs.START.toString(),
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            BuildOutputs.tools().toString()));
    command.addAll(List.of(words));
    return command;
  }

  /*
   * Writes a configuration that needs all permissions: large buffers, source addresses of other
   * hosts, beacons signed with a key, and both kinds of sockets.
   */
  private Path configure(String... groups) throws IOException {
    Path key = runtime.resolve("key");
    if (!Files.exists(key)) {
      Files.write(key, new byte[32]);
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
      Files.setAttribute(key, "unix:gid", ShippedUnit.USER);
    }
    List<String> lines = new ArrayList<>();
    lines.add(
        "name = test\nstatus = "
            + runtime.resolve("status")
            + "\ncontrol = "
            + runtime.resolve("control"));
    lines.add("[fabric a]\ninterface = e1\nprefix = 10.1.0.0/24,fd00:1:1:1::/64");
    lines.add("[fabric b]\ninterface = e2\nprefix = 10.2.0.0/24,fd00:1:1:2::/64");
    lines.add("[redundancy]\nbridge-id = 1\nkey-file = " + key);
    lines.add("[unicast]");
    for (String each : groups) {
      lines.add("[group " + each + "]");
    }
    return Files.write(runtime.resolve("bridge.conf"), lines);
  }

  @Test
  void bridgeWorksUnderUnitsRestrictions() throws Exception {
    ShippedUnit.requireSystemd();
    Skip.unless(Lab.Kind.NAMESPACES);
    String name = Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    runtime = Files.createDirectory(Path.of("/run", "heddle-bu" + name));
    try {
      lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 2, 1500));
      underTheUnit();
    } finally {
      if (lab != null) {
        lab.close();
      }
      BareRoot.run(List.of("rm", "-rf", runtime.toString()));
    }
  }

  private void underTheUnit() throws Exception {
    for (int rank : List.of(BRIDGE, HOST)) {
      for (int net = 1; net <= 2; net++) {
        String address = "10." + net + ".0." + (rank + 1) + "/24";
        run(rank, List.of("ip", "addr", "add", address, "dev", "e" + net));
      }
    }
    String config = configure("239.1.1.1", "ff05::1:3").toString();
    List<String> confined = ShippedUnit.confined(UNIT, runtime);
    run(BRIDGE, heddle(confined, "bridge", "check", "--config", config));
    String notify = runtime.resolve("notify").toString();
    Map<String, String> environment = Map.of("NOTIFY_SOCKET", notify, "WATCHDOG_USEC", "10000000");
    try (NotifySocket systemd = NotifySocket.at(notify)) {
      Files.setPosixFilePermissions(Path.of(notify), PosixFilePermissions.fromString("rwxrwxrwx"));
      List<String> command = heddle(confined, "bridge", "run", "--config", config);
      try (HostProcess bridge = start(BRIDGE, "bridge.log", environment, command)) {
        bridge.awaitOutput("status at", LIMIT_SECONDS);
        assertEquals("READY=1\nSTATUS=both fabrics carry", systemd.awaitMessage("READY=1"));
        systemd.awaitMessage("WATCHDOG=1");
        work(bridge, systemd);
      }
    }
  }

  private void work(HostProcess bridge, NotifySocket systemd) throws Exception {
    Map<String, String> status = ShippedUnit.status(bridge.pid());
    String users = String.format(Locale.ROOT, "%1$d\t%1$d\t%1$d\t%1$d", ShippedUnit.USER);
    assertEquals(users, status.get("Uid"));
    assertEquals(users, status.get("Gid"));
    assertEquals("1", status.get("NoNewPrivs"));
    assertEquals("2", status.get("Seccomp"), "a filter");
    /* CAP_NET_ADMIN is bit 12. */
    for (String set : List.of("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")) {
      assertEquals("0000000000001000", status.get(set), set);
    }
    Path config = runtime.resolve("bridge.conf");
    List<String> test = HeddleRun.command("bridge", "test", "--from", "e1", "--to", "e2");
    test.addAll(List.of("--config", config.toString()));
    run(HOST, test);
    configure("239.1.1.1", "ff05::1:3", "239.1.1.2");
    String pid = Long.toString(bridge.pid());
    BareRoot.run(List.of("kill", "-HUP", pid));
    systemd.awaitMessage("RELOADING=1\nMONOTONIC_USEC=");
    systemd.awaitMessage("READY=1");
    run(HOST, test);
    String held = ControlSocket.request(DAEMON, runtime.resolve("control"), "hold");
    assertTrue(held.replace(" ", "").contains("\"followed\":true"), held);
    BareRoot.run(List.of("kill", "-TERM", pid));
    systemd.awaitMessage("STOPPING=1");
    assertEquals(143, bridge.exitCode(LIMIT_SECONDS), bridge::outputOrWhyNot);
    assertEquals(ShippedUnit.USER, Files.getAttribute(runtime.resolve("status"), "unix:uid"));
  }
}
