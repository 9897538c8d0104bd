package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.daemon.ControlSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.Gid;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Test of {@code heddle bridge set}: a bridge drops packets of a group on request. */
@EndsWithin(120)
@SystemTest
final class SetCommandTest extends BridgedFabrics {
  private static final Gid FIRST = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid SECOND = new Gid(0, 0xffff_ef01_0102L);

  private BridgeConfig twoGroups(String more) {
    return config("[group 239.1.1.1]" + more, "[group 239.1.1.2]");
  }

  private void awaitCounted(int group, int from, long packets) {
    await(() -> {
      BridgeStatus.Direction counted = direction(group, from);
      return counted.forwarded() + counted.dropped() >= packets;
    });
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
    open(1500);
    start(twoGroups(""));
    try (ControlSocket socket =
        BridgeSocket.listen(control, null, bridge.faults(), Log.toStandardError())) {
      String output = set(0, at, "drop=1/10", "239.1.1.1");
      assertTrue(output.startsWith("one of 10 packets of group 239.1.1.1"), output);
      assertTrue(
          BridgeTable.of(status())
              .contains("WARNING: packets are dropped on purpose: 239.1.1.1 1/10; heddle"),
          BridgeTable.of(status()));
      sendFrom(HOST_A, FIRST, 100);
      sendFrom(HOST_B, FIRST, 50);
      sendFrom(HOST_A, SECOND, 100);
      awaitCounted(0, 0, 100);
      awaitCounted(0, 1, 50);
      awaitCounted(1, 0, 100);
      assertEquals(10, direction(0, 0).drops().get("injected"), direction(0, 0).toString());
      assertEquals(5, direction(0, 1).drops().get("injected"), direction(0, 1).toString());
      assertNull(direction(1, 0).drops().get("injected"));
      assertEquals(90, direction(0, 0).forwarded());

      /* A group that a reload replaces still drops packets as set. */
      bridge.reload(twoGroups("\nrate = 1M"));
      assertEquals(10, status().groups().getFirst().dropEvery());
      sendFrom(HOST_A, FIRST, 100);
      awaitCounted(0, 0, 200);
      assertEquals(20, direction(0, 0).drops().get("injected"), direction(0, 0).toString());

      assertTrue(set(0, at, "drop=1/1", "--json").contains("\"groups\" : 2"));
      sendFrom(HOST_A, SECOND, 10);
      awaitCounted(1, 0, 110);
      assertEquals(10, direction(1, 0).drops().get("injected"), direction(1, 0).toString());
      set(0, at, "drop=off");
      assertFalse(BridgeTable.of(status()).contains("WARNING"));
      sendFrom(HOST_A, SECOND, 10);
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
    bridge.close();
    /*
     * A new bridge drops nothing, although the previous bridge's status file still has a drop
     * setting.
     */
    start(twoGroups(""));
    assertTrue(status().groups().stream().allMatch(each -> each.dropEvery() == 0));
    sendFrom(HOST_A, FIRST, 10);
    awaitCounted(0, 0, 10);
    assertEquals(10, direction(0, 0).forwarded(), bridge.describe());
  }
}
