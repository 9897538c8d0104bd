package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.BridgeStatus.Direction;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.systemtests.bridge.GroupTalk;
import io.heddle.systemtests.bridge.OneWay;
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
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of a bridge between an InfiniBand port of the stand-in for libibverbs and an Ethernet
 * interface, with a host on each side. The bridge joins groups through the test double of
 * librdmacm. The stand-in's control program joins them for the InfiniBand host.
 *
 * <pre>
 * InfiniBand host ══ subnet ══ standin0 [the bridge] e1 ══ e1 wire host
 *  LID 17                       LID 1       10.1.0.1      10.1.0.2
 *                            IPoIB 10.9.0.1  fd01::1       fd01::2
 * </pre>
 */
@EndsWithin(120)
@SystemTest
class BridgeOverInfinibandTest {
  /* MGIDs of the bridge's groups. Last are the groups to which only wire hosts send. */
  private static final List<String> MGIDS =
      List.of(
          "ff15:401b:ffff::f01:101",
          "ff15:a01b::1267:ef01:102",
          "ff12:6001:ffff::1:1",
          "ff12:4001:ffff::f01:104");
  private static final List<String> GROUPS =
      List.of("239.1.1.1", "239.1.1.2", "ff15::1:1", "239.1.1.4");
  private static final int ONE_WAY = 3;
  private static final String HOST_GID = "fe80::200:ff:fe00:102";
  private static final int BRIDGE = 0;
  private static final int WIRE_HOST = 1;
  private static final int PACKETS = 300;
  private static final int FEW = 20;
  private static final int LIMIT_SECONDS = 60;

  @TempDir private Path folder;
  private final List<String> lids = new ArrayList<>();
  private Lab lab;
  private HostProcess bridge;

  @BeforeEach
  void startSubnetAndBridge() throws Exception {
    BuildOutputs.standin();
    BuildOutputs.standinManager();
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 1500));
    for (int rank : List.of(BRIDGE, WIRE_HOST)) {
      LabAddress.add(lab, rank, "e1", "10.1.0." + (rank + 1) + "/24", folder);
      LabAddress.add(lab, rank, "e1", "fd01::" + (rank + 1) + "/64", folder);
    }
    LabAddress.add(lab, BRIDGE, "lo", "10.9.0.1/32", folder);
    StandinControl.run("create", standin(0));
    StandinControl.run("host 0", standin(0));
    StandinControl.run("host 1", standin(1));
    for (String each : MGIDS) {
      String output = StandinControl.run("join 1/0 " + each, standin(1));
      lids.add(Integer.toString(StandinControl.lidIn(output)));
    }
    startBridge();
  }

  private Path config(String firstMgid, String... more) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("name = test\nstatus = " + status() + "\ncontrol = " + folder.resolve("control"));
    lines.add("[fabric a]\nkind = verbs\ndevice = standin0");
    lines.add(
        "[fabric b]\ninterface = e1\naddress = 10.1.0.1,fd01::1\nprefix = 10.1.0.0/24,fd01::/64");
    lines.add("[group 239.1.1.1]\nmgid = " + firstMgid);
    lines.add("[group 239.1.1.2:4711]\nmgid = CLLM");
    lines.add("[group ff15::1:1]");
    lines.add("[group 239.1.1.4]\ndirection = b-to-a");
    lines.addAll(List.of(more));
    return Files.write(folder.resolve("bridge.conf"), lines);
  }

  private void startBridge() throws Exception {
    Path config = config("IPv4");
    Map<String, String> environment = standin(0);
    environment.put("STANDIN_IPOIB", "10.9.0.1");
    bridge =
        HostProcess.start(
            lab,
            BRIDGE,
            folder.resolve("bridge.log"),
            environment,
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
    return StandinHost.onInfiniband(folder, host);
  }

  private String onSubnet(int group) {
    return MGIDS.get(group) + "@" + lids.get(group);
  }

  private HostProcess host(boolean verbs, Class<?> program, String... arguments)
      throws IOException {
    Path log = Files.createTempFile(folder, "host", ".log");
    List<String> command = HostProcess.java(program, arguments);
    return verbs
        ? HostProcess.start(lab, BRIDGE, log, standin(1), command)
        : HostProcess.start(lab, WIRE_HOST, log, Map.of(), command);
  }

  /*
   * Starts a host that sends to the groups and receives from them. It opens a second port object
   * for the IPv6 groups.
   */
  private HostProcess talk(boolean verbs, String own, String ownOfIpv6, IntFunction<String> groups)
      throws IOException {
    return host(
        verbs,
        GroupTalk.class,
        verbs ? "verbs" : "wire",
        verbs ? "standin0" : "e1",
        verbs ? "1" : "2",
        Integer.toString(PACKETS),
        Integer.toString(LIMIT_SECONDS),
        own + "," + groups.apply(0) + "," + groups.apply(1),
        ownOfIpv6 + "," + groups.apply(2));
  }

  private HostProcess oneWay(String what, boolean verbs, int group, int hops) throws IOException {
    return host(
        verbs,
        OneWay.class,
        what,
        verbs ? "verbs" : "wire",
        verbs ? "standin0" : "e1",
        verbs ? HOST_GID : "10.1.0.2",
        verbs ? onSubnet(group) : GROUPS.get(group),
        Integer.toString(hops),
        Integer.toString(FEW),
        Integer.toString(LIMIT_SECONDS));
  }

  private static void assertExitsCleanly(HostProcess host) throws Exception {
    assertEquals(0, host.exitCode(LIMIT_SECONDS), host::outputOrWhyNot);
  }

  private BridgeStatus await(Predicate<BridgeStatus> what) {
    return ShownStatus.await(status(), bridge, LIMIT_SECONDS, what);
  }

  private static Direction from(BridgeStatus status, int side, int group) {
    return status.groups().get(group).directions().get(side);
  }

  /*
   * Returns whether all dropped packets are the bridge's own multicast, which the device receives
   * back.
   */
  private static boolean isAccountedFor(BridgeStatus status, int group) {
    Direction fromSubnet = from(status, 0, group);
    Direction fromWire = from(status, 1, group);
    return fromSubnet.drops().equals(Map.of("own-source", fromWire.forwarded()))
        && fromWire.drops().isEmpty()
        && fromWire.arrived() == fromWire.forwarded()
        && fromSubnet.arrived() == fromSubnet.forwarded() + fromWire.forwarded();
  }

  @Test
  void forwardsGroupsInOneOrBothDirectionsAndDropsLoops() throws Exception {

    try (HostProcess verbs = talk(true, HOST_GID, HOST_GID, this::onSubnet);
        HostProcess wire = talk(false, "10.1.0.2", "fd01::2", GROUPS::get)) {
      assertExitsCleanly(verbs);
      assertExitsCleanly(wire);
    }
    BridgeStatus status =
        await(now -> isAccountedFor(now, 0) && isAccountedFor(now, 1) && isAccountedFor(now, 2));
    for (int group = 0; group < ONE_WAY; group++) {
      assertTrue(from(status, 0, group).forwarded() > PACKETS, status.toString());
      assertTrue(from(status, 1, group).forwarded() > PACKETS, status.toString());
    }
    BridgeStatus.Fabric subnet = status.fabrics().getFirst();
    assertEquals(
        "verbs standin0 fe80::200:ff:fe00:101 joins by RDMA CM from 10.9.0.1 in partition 0xffff",
        subnet.description());
    assertEquals(0, subnet.queuePairFailures() + subnet.portEvents());
    assertEquals(0, subnet.empty() + subnet.unicast() + subnet.unknownGroup());
    oneWayGroupFlows();
    status = await(now -> from(now, 1, ONE_WAY).forwarded() == FEW);
    assertEquals(0, from(status, 0, ONE_WAY).arrived(), "its port only sends");
    refusedGroupNameChangesNothing();
    dropsAndCountsPacketsOfBridgesAndRouters(status);
  }

  /*
   * Reloads a configuration whose last group name is rejected. The bridge notices this when it has
   * renamed the first group already.
   */
  private void refusedGroupNameChangesNothing() throws Exception {
    config("IB", "[group ff05::1:1]");
    Process hangUp = new ProcessBuilder("kill", "-HUP", Long.toString(bridge.pid())).start();
    assertEquals(0, hangUp.waitFor());
    bridge.awaitOutput(
        "standin0 can't join ff05::1:1: its MGID ff12:6001:ffff::1:1 is that of ff15::1:1",
        LIMIT_SECONDS);
  }

  private void oneWayGroupFlows() throws Exception {
    try (HostProcess listener = oneWay("hear", true, ONE_WAY, 0)) {
      listener.awaitOutput("listening", LIMIT_SECONDS);
      try (HostProcess sender = oneWay("send", false, ONE_WAY, 1)) {
        assertExitsCleanly(sender);
      }
      assertExitsCleanly(listener);
    }
  }

  /*
   * Packets of bridges and routers have a hop limit above 0, and packets of hosts have hop limit 0.
   */
  private void dropsAndCountsPacketsOfBridgesAndRouters(BridgeStatus before) throws Exception {
    try (HostProcess listener = oneWay("hear", false, 0, 1)) {
      listener.awaitOutput("listening", LIMIT_SECONDS);
      for (int hops : List.of(1, 64, 0)) {
        try (HostProcess sender = oneWay("send", true, 0, hops)) {
          assertExitsCleanly(sender);
        }
      }
      assertExitsCleanly(listener);
    }
    Direction then = from(before, 0, 0);
    BridgeStatus now = await(each -> from(each, 0, 0).arrived() == then.arrived() + 3 * FEW);
    assertEquals(2L * FEW, from(now, 0, 0).drops().get("foreign-source"));
    assertEquals(FEW, from(now, 0, 0).forwarded() - then.forwarded());
  }
}
