package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.BridgeStatus.Direction;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.systemtests.bridge.GroupTalk;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of a bridge between a device of the stand-in for libibverbs and an Ethernet interface, with
 * a host on each side.
 *
 * <pre>
 * verbs host ══ stand-in ══ standin0 [the bridge] e1 ══ e1 wire host
 *  10.9.0.2               10.9.0.1               10.1.0.1      10.1.0.2
 *  fd09::2                fd09::1                fd01::1       fd01::2
 * </pre>
 */
@EndsWithin(120)
@SystemTest
class BridgeOverVerbsTest {
  private static final List<String> GROUPS = List.of("239.1.1.1", "239.1.1.2", "ff15::1:1");
  private static final int BRIDGE = 0;
  private static final int WIRE_HOST = 1;
  private static final int PACKETS = 600;
  private static final int LIMIT_SECONDS = 60;

  @TempDir private Path folder;
  private Lab lab;
  private HostProcess bridge;

  @BeforeEach
  void startBridge() throws Exception {
    BuildOutputs.standin();
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 1500));
    for (int rank : List.of(BRIDGE, WIRE_HOST)) {
      LabAddress.add(lab, rank, "e1", "10.1.0." + (rank + 1) + "/24", folder);
      LabAddress.add(lab, rank, "e1", "fd01::" + (rank + 1) + "/64", folder);
    }
    List<String> lines = new ArrayList<>();
    lines.add("name = test\nstatus = " + status() + "\ncontrol = " + folder.resolve("control"));
    lines.add("[fabric a]\nkind = verbs\ndevice = standin0\naddress = 10.9.0.1,fd09::1");
    lines.add(
        "[fabric b]\ninterface = e1\naddress = 10.1.0.1,fd01::1\nprefix = 10.1.0.0/24,fd01::/64");
    GROUPS.forEach(each -> lines.add("[group " + each + "]"));
    Path config = folder.resolve("bridge.conf");
    Files.write(config, lines);
    bridge =
        HostProcess.start(
            lab,
            BRIDGE,
            folder.resolve("bridge.log"),
            standin(0),
            HeddleRun.command("bridge", "run", "--config", config.toString()));
    bridge.awaitOutput("status at", LIMIT_SECONDS);
  }

  @AfterEach
  void end() throws Exception {
    try {
      if (bridge != null) {
        bridge.close();
      }
    } finally {
      if (lab != null) {
        lab.close();
      }
    }
  }

  private Path status() {
    return folder.resolve("status");
  }

  private Map<String, String> standin(int host) {
    int number = host + 1;
    return StandinHost.onEthernet(folder, host, "::ffff:10.9.0." + number + ",fd09::" + number);
  }

  private HostProcess talk(boolean verbs, int packets) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(verbs ? List.of("verbs", "standin0", "1") : List.of("wire", "e1", "2"));
    arguments.addAll(List.of(Integer.toString(packets), Integer.toString(LIMIT_SECONDS)));
    String net = verbs ? "9" : "1";
    arguments.add("10." + net + ".0.2," + GROUPS.get(0) + "," + GROUPS.get(1));
    arguments.add("fd0" + net + "::2," + GROUPS.get(2));
    Path log = Files.createTempFile(folder, "talk", ".log");
    List<String> command = HostProcess.java(GroupTalk.class, arguments.toArray(String[]::new));
    return verbs
        ? HostProcess.start(lab, BRIDGE, log, standin(1), command)
        : HostProcess.start(lab, WIRE_HOST, log, Map.of(), command);
  }

  private void talk(int packets) throws Exception {
    try (HostProcess verbs = talk(true, packets);
        HostProcess wire = talk(false, packets)) {
      assertEquals(0, verbs.exitCode(LIMIT_SECONDS), verbs::outputOrWhyNot);
      assertEquals(0, wire.exitCode(LIMIT_SECONDS), wire::outputOrWhyNot);
    }
  }

  private BridgeStatus await(Predicate<BridgeStatus> what) {
    return ShownStatus.await(status(), bridge, LIMIT_SECONDS, what);
  }

  /*
   * Returns whether all dropped packets are the bridge's own multicast, which the device receives
   * back.
   */
  private static boolean isAccountedFor(BridgeStatus.Group group) {
    Direction fromVerbs = group.directions().getFirst();
    Direction fromWire = group.directions().getLast();
    return fromVerbs.drops().equals(Map.of("own-source", fromWire.forwarded()))
        && fromWire.drops().isEmpty()
        && fromWire.arrived() == fromWire.forwarded()
        && fromVerbs.arrived() == fromVerbs.forwarded() + fromWire.forwarded();
  }

  @Test
  void everyPacketArrivesOnceInOrderAndIsCounted() throws Exception {
    talk(PACKETS);
    BridgeStatus status =
        await(now -> now.groups().stream().allMatch(BridgeOverVerbsTest::isAccountedFor));
    for (BridgeStatus.Group each : status.groups()) {
      assertTrue(each.directions().getFirst().forwarded() > PACKETS, each.toString());
      assertTrue(each.directions().getLast().forwarded() > PACKETS, each.toString());
    }
    BridgeStatus.Fabric verbs = status.fabrics().getFirst();
    assertEquals(0, verbs.queuePairFailures() + verbs.portEvents());
    assertEquals("verbs standin0 10.9.0.1 fd09::1 joins by the device alone", verbs.description());
    assertEquals(0, verbs.empty() + verbs.unicast() + verbs.unknownGroup());
  }

  @Test
  void restartsFailedQueuePairAndReportsLostLink() throws Exception {
    StandinControl.run("fail 0/0 IBV_WC_GENERAL_ERR", standin(0));
    /*
     * The first packet that the bridge forwards is lost with the failed send, so the wire host
     * repeats it.
     */
    talk(10);
    BridgeStatus status = await(now -> now.fabrics().getFirst().queuePairFailures() == 1);
    long unsent =
        status.groups().stream()
            .mapToLong(each -> each.directions().getLast().drops().getOrDefault("not-sent", 0L))
            .sum();
    assertTrue(unsent >= 1, status.toString());
    assertTrue(
        bridge.output().contains("the queue pair has failed, 1 times in all: GENERAL_ERROR"),
        bridge.output());
    StandinControl.run("port 0/0 down", standin(0));
    await(now -> now.lastError().equals("fabric a: standin0 has no link"));
    StandinControl.run("port 0/0 up", standin(0));
    await(now -> now.lastError().equals("fabric a: all is as it was at the start again"));
    assertTrue(await(now -> true).fabrics().getFirst().portEvents() >= 2);
    talk(10);
  }
}
