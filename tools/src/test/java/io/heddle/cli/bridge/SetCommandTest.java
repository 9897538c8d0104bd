package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.daemon.ControlSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Test of {@code heddle bridge set}: a bridge drops packets of a group on request. */
@EndsWithin(120)
@SystemTest
final class SetCommandTest {
  private static final Gid FIRST = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid SECOND = new Gid(0, 0xffff_ef01_0102L);
  private static final long POLL_NS = 1_000_000;

  @TempDir private Path folder;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private BridgeConfig config(String more) {
    return BridgeConfigParser.parse(
        "bridge.conf",
        List.of(
            "name = test\nstatus = " + folder.resolve("status"),
            "[fabric a]\ninterface = e1\naddress = 10.1.0.254",
            "[fabric b]\ninterface = e2\naddress = 10.2.0.254",
            "[group 239.1.1.1]" + more,
            "[group 239.1.1.2]"));
  }

  private BridgeStatus status() {
    return BridgeStatus.read(folder.resolve("status"));
  }

  private BridgeStatus.Direction direction(int group, int from) {
    return status().groups().get(group).directions().get(from);
  }

  private static void send(TwoFabrics fabrics, int host, Gid group, int packets) {
    NetworkNamespace.call(
        fabrics.namespace(host),
        () -> {
          String link = TwoFabrics.interfaceName(fabrics.side(host));
          Gid ipv4 = fabrics.address(host, true);
          try (FabricHost there = new FabricHost(host, link, ipv4, fabrics.address(host, false))) {
            for (int i = 0; i < packets; i++) {
              there.send(group, 0, i, 100);
            }
          }
          return true;
        });
  }

  private void awaitCounted(int group, int from, long packets) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (direction(group, from).forwarded() + direction(group, from).dropped() < packets) {
      assertFalse(deadline.isOver(), () -> status() + " within " + deadline);
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private String set(int code, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        new CommandLine(new SetCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    assertEquals(code, line.execute(arguments), err::toString);
    return out + err.toString();
  }

  @Test
  void dropsOneOfNPacketsUntilSwitchedOff() {
    Path control = folder.resolve("control");
    String at = "--control=" + control;
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500)) {
      try (Bridge bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config(""));
          ControlSocket socket =
              BridgeSocket.listen(control, null, bridge.faults(), Log.toStandardError())) {
        String output = set(0, at, "drop=1/10", "239.1.1.1");
        assertTrue(output.startsWith("one of 10 packets of group 239.1.1.1"), output);
        assertTrue(
            BridgeTable.of(status())
                .contains("WARNING: packets are dropped on purpose: 239.1.1.1 1/10; heddle"),
            BridgeTable.of(status()));
        send(fabrics, 1, FIRST, 100);
        send(fabrics, 2, FIRST, 50);
        send(fabrics, 1, SECOND, 100);
        awaitCounted(0, 0, 100);
        awaitCounted(0, 1, 50);
        awaitCounted(1, 0, 100);
        assertEquals(10, direction(0, 0).drops().get("injected"), direction(0, 0).toString());
        assertEquals(5, direction(0, 1).drops().get("injected"), direction(0, 1).toString());
        assertNull(direction(1, 0).drops().get("injected"));
        assertEquals(90, direction(0, 0).forwarded());

        /* A group that a reload replaces still drops packets as set. */
        bridge.reload(config("\nrate = 1M"));
        assertEquals(10, status().groups().getFirst().dropEvery());
        send(fabrics, 1, FIRST, 100);
        awaitCounted(0, 0, 200);
        assertEquals(20, direction(0, 0).drops().get("injected"), direction(0, 0).toString());

        assertTrue(set(0, at, "drop=1/1", "--json").contains("\"groups\" : 2"));
        send(fabrics, 1, SECOND, 10);
        awaitCounted(1, 0, 110);
        assertEquals(10, direction(1, 0).drops().get("injected"), direction(1, 0).toString());
        set(0, at, "drop=off");
        assertFalse(BridgeTable.of(status()).contains("WARNING"));
        send(fabrics, 1, SECOND, 10);
        awaitCounted(1, 0, 120);
        assertEquals(110, direction(1, 0).forwarded());

        String wrong = set(2, at, "drop=0.1");
        assertTrue(wrong.contains("drop=0.1 can't be set; there are drop=1/N"), wrong);
        HeddleException unknown =
            assertThrows(
                HeddleException.class, () -> BridgeSocket.request(control, "drop 5 239.1.1.7"));
        assertTrue(String.valueOf(unknown.getMessage()).contains("no group is named 239.1.1.7"));
        HeddleException alone =
            assertThrows(HeddleException.class, () -> BridgeSocket.request(control, "drain"));
        assertTrue(String.valueOf(alone.getMessage()).contains("this bridge is alone"));
        set(0, at, "drop=1/2");
      }
      /*
       * A new bridge drops nothing, although the previous bridge's status file still has a drop
       * setting.
       */
      try (Bridge again = BridgeDemo.inNamespace(fabrics.namespace(0), config(""))) {
        assertTrue(status().groups().stream().allMatch(each -> each.dropEvery() == 0));
        send(fabrics, 1, FIRST, 10);
        awaitCounted(0, 0, 10);
        assertEquals(10, direction(0, 0).forwarded(), again.describe());
      }
    }
  }
}
