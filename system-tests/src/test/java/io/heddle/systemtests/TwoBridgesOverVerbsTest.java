package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.BridgeStatus.Direction;
import io.heddle.bridge.status.RedundancyStatus;
import io.heddle.daemon.ControlSocket;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.systemtests.bridge.GroupLoad;
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
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of two bridges between the stand-in for libibverbs and an Ethernet interface, under load in
 * both directions. The bridges send beacons over the interfaces e1 and e2; e2 is the network
 * interface of the devices' ports.
 *
 * <pre>
 *          stand-in, e2                e1
 * load ══ 10.9.0.1 [bridge 1] 10.1.0.1 ══ load
 * 10.9.0.3 10.9.0.2 [bridge 2] 10.1.0.2   10.1.0.3
 * </pre>
 *
 * <p>On InfiniBand, e2 is the ports' IPoIB interface, and the groups are joined with its addresses.
 */
@EndsWithin(300)
@SystemTest
class TwoBridgesOverVerbsTest {
  private static final String GROUP = "239.1.1.1";
  private static final String MGID = "ff12:4001:ffff::f01:101";
  private static final String LOAD_GID = "fe80::200:ff:fe00:103";
  private static final String PACE_US = "1000";
  private static final int LOAD_RANK = 2;
  private static final int LIMIT_SECONDS = 60;
  private static final long SOME = 100;
  /*
   * Maximum number of kills of a bridge, each of which causes a measured gap in the payloads. A
   * pause of the machine may lengthen a gap, so the shortest one counts.
   */
  private static final int KILLS = 5;
  private static final long POLL_MS = 10;
  /*
   * Number of characters at the end of the load's output that surely contain the newest counts.
   */
  private static final int TAIL = 1000;
  private static final ControlSocket.Daemon BRIDGE =
      new ControlSocket.Daemon("heddle-bridge", "bridge", "heddle bridge run", "rw-------");
  private static final Pattern COUNTS =
      Pattern.compile(
          "from-([ab]) sent (\\d+) newest (-?\\d+) twice (\\d+) lost (\\d+) pauseUs" + " (\\d+)\n");

  @TempDir private Path folder;
  private final List<HostProcess> processes = new ArrayList<>();
  private final HostProcess[] bridges = new HostProcess[3];
  private Lab lab;
  private HostProcess load;
  private boolean infiniband;

  /*
   * Counts of the load's payloads from one fabric so far, and the longest gap between two payloads
   * since the load's previous line.
   */
  private record Counts(long sent, long newest, long duplicates, long lost, double pauseMs) {
    Counts(MatchResult line) {
      this(
          Long.parseLong(line.group(2)),
          Long.parseLong(line.group(3)),
          Long.parseLong(line.group(4)),
          Long.parseLong(line.group(5)),
          Long.parseLong(line.group(6)) / 1e3);
    }
  }

  @BeforeEach
  void createLab() throws Exception {
    BuildOutputs.standin();
    Skip.unless(Lab.Kind.NAMESPACES);
    if (new ProcessBuilder("chrt", "-f", "1", "true").start().waitFor() != 0) {
      Skip.because("chrt can't give a thread a priority");
    }
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(3, 2, 1500));
    for (int rank = 0; rank <= LOAD_RANK; rank++) {
      LabAddress.add(lab, rank, "e1", "10.1.0." + (rank + 1) + "/24", folder);
    }
    LabAddress.add(lab, 0, "e2", "10.9.0.1/24", folder);
    LabAddress.add(lab, 1, "e2", "10.9.0.2/24", folder);
  }

  @AfterEach
  void end() throws Exception {
    try {
      for (HostProcess each : processes) {
        each.close();
      }
    } finally {
      if (lab != null) {
        lab.close();
      }
    }
  }

  private Map<String, String> standin(int host) {
    String address = "10.9.0." + (host + 1);
    if (!infiniband) {
      return StandinHost.onEthernet(folder, host, "::ffff:" + address);
    }
    Map<String, String> environment = StandinHost.onInfiniband(folder, host);
    environment.put("STANDIN_IPOIB", address);
    return environment;
  }

  private Path status(int number) {
    return folder.resolve("status" + number);
  }

  private Path config(int number, int beaconMs) throws IOException {
    Path config = folder.resolve("bridge" + number + ".conf");
    Files.write(
        config,
        List.of(
            "name = test"
                + number
                + "\nstatus = "
                + status(number)
                + "\ncontrol = "
                + control(number),
            "[fabric a]\nkind = verbs\ndevice = standin0",
            "[fabric b]\ninterface = e1\naddress = 10.1.0." + number + "\nprefix = 10.1.0.0/24",
            "[redundancy]\nbridge-id = " + number + "\nbeacon = " + beaconMs + "ms",
            "[group " + GROUP + "]\nowner = 2"));
    return config;
  }

  private Path control(int number) {
    return folder.resolve("control" + number);
  }

  private HostProcess start(int number, List<String> command) throws IOException {
    Path log = Files.createTempFile(folder, "process", ".log");
    HostProcess process = HostProcess.start(lab, number - 1, log, standin(number - 1), command);
    processes.add(process);
    return process;
  }

  private void startBridge(int number, int beaconMs) throws IOException {
    String config = config(number, beaconMs).toString();
    bridges[number] = start(number, HeddleRun.command("bridge", "run", "--config", config));
  }

  private void startBoth(int beaconMs) throws Exception {
    startBridge(1, beaconMs);
    startBridge(2, beaconMs);
    awaitOwner(2);
    String own = infiniband ? LOAD_GID : "10.9.0.3";
    String group = infiniband ? MGID + "@" + joinLoad() : GROUP;
    load =
        start(
            LOAD_RANK + 1,
            HostProcess.java(
                GroupLoad.class,
                GROUP,
                PACE_US,
                "verbs",
                "standin0",
                own + "," + group,
                "wire",
                "e1",
                "10.1.0.3"));
    awaitFlow();
  }

  /* Adds the load's port to the group, as the operator of a subnet can. Returns the group's LID. */
  private int joinLoad() throws Exception {
    Map<String, String> environment = standin(LOAD_RANK);
    StandinControl.run("host " + LOAD_RANK, environment);
    return StandinControl.lidIn(StandinControl.run("join 2/0 " + MGID, environment));
  }

  private RedundancyStatus redundancy(int number) {
    RedundancyStatus redundancy = BridgeStatus.read(status(number)).redundancy();
    if (redundancy == null) {
      throw new HeddleException("bridge " + number + " is alone");
    }
    return redundancy;
  }

  private boolean isSettled(int number, String role, String state) {
    try {
      RedundancyStatus redundancy = redundancy(number);
      return redundancy.settled()
          && redundancy.state().equals(state)
          && redundancy.peers().stream().anyMatch(each -> !each.receivedOn().isEmpty())
          && BridgeStatus.read(status(number)).groups().getFirst().role().equals(role);
    } catch (HeddleException notYet) {
      return false;
    }
  }

  private boolean owns(int number) {
    return BridgeStatus.read(status(number)).groups().getFirst().role().equals("owner");
  }

  private void await(String what, BooleanSupplier holds) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (!holds.getAsBoolean()) {
      assertFalse(deadline.isOver(), () -> what + " within " + deadline + ": " + outputs());
      assertTrue(bridges[1].isAlive(), this::outputs);
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
  }

  private String outputs() {
    StringBuilder text = new StringBuilder();
    for (HostProcess each : processes) {
      String output = each.outputOrWhyNot();
      text.append("\n---\n").append(output.substring(Math.max(0, output.length() - 2000)));
    }
    return text.toString();
  }

  /*
   * Waits until a bridge owns the group, both bridges agree on that, and the other bridge could
   * take over.
   */
  private void awaitOwner(int number) throws InterruptedException {
    await(
        "bridge " + number + " owns",
        () -> isSettled(number, "owner", "active") && isSettled(3 - number, "standby", "standby"));
  }

  private List<Counts> counts(String from, int begin) {
    String output = load.outputOrWhyNot();
    int start = Math.min(begin < 0 ? Math.max(0, output.length() + begin) : begin, output.length());
    return COUNTS
        .matcher(output.substring(start))
        .results()
        .filter(each -> each.group(1).equals(from))
        .map(Counts::new)
        .toList();
  }

  private Counts counts(String from) {
    List<Counts> newest = counts(from, -TAIL);
    return newest.isEmpty() ? new Counts(0, -1, 0, 0, 0) : newest.getLast();
  }

  /*
   * Returns the longest gap in either direction that the load printed after this position in its
   * output, in milliseconds.
   */
  private double longestPauseMs(int begin) {
    double longest = 0;
    for (String from : List.of("a", "b")) {
      for (Counts each : counts(from, begin)) {
        longest = Math.max(longest, each.pauseMs());
      }
    }
    return longest;
  }

  private void awaitFlow() throws InterruptedException {
    long verbs = counts("a").sent() + SOME;
    long wire = counts("b").sent() + SOME;
    await(
        "payloads flow",
        () -> {
          assertTrue(load.isAlive(), load::outputOrWhyNot);
          return counts("a").newest() >= verbs && counts("b").newest() >= wire;
        });
  }

  private void sendCommand(int bridge, String command) {
    String answer = ControlSocket.request(BRIDGE, control(bridge), command);
    assertTrue(answer.replace(" ", "").contains("\"followed\":true"), answer);
  }

  private long noOwner(int side) {
    long counted = 0;
    for (int number = 1; number <= 2; number++) {
      Direction from = BridgeStatus.read(status(number)).groups().getFirst().directions().get(side);
      counted += from.drops().getOrDefault("no-owner", 0L);
    }
    return counted;
  }

  private void assertNoDuplicates() {
    assertEquals(0, counts("a").duplicates() + counts("b").duplicates(), this::outputs);
  }

  /* Drains the second bridge and ends the drain, so that it takes the group back; repeats this. */
  private void handOver(int times) throws Exception {
    for (int i = 0; i < times; i++) {
      sendCommand(2, "drain");
      awaitNewOwner(1);
      awaitFlow();
      sendCommand(2, "end-drain");
      awaitOwner(2);
      awaitFlow();
    }
    long[] counted = {noOwner(0), noOwner(1)};
    System.out.println(
        2 * times
            + " hand-overs: "
            + counts("a")
            + " "
            + counts("b")
            + ", counted "
            + counted[0]
            + " and "
            + counted[1]);
    assertNoDuplicates();
    assertTrue(counts("a").lost() <= counted[0], this::outputs);
    assertTrue(counts("b").lost() <= counted[1], this::outputs);
  }

  private void awaitNewOwner(int number) throws InterruptedException {
    await("bridge " + number + " owns", () -> isSettled(number, "owner", "active"));
  }

  @Test
  void drainLinkLossAndKillDuplicateNoPayload() throws Exception {
    startBoth(800);
    assertEquals(List.of("a", "b"), redundancy(1).peers().getFirst().receivedOn());
    handOver(1);
    StandinControl.run("port 1/0 down", standin(0));
    await("the first takes over", () -> owns(1));
    assertEquals(List.of("b"), redundancy(2).fabricsUp());
    awaitFlow();
    StandinControl.run("port 1/0 up", standin(0));
    awaitOwner(2);
    awaitFlow();
    bridges[2].kill();
    await("the first takes over", () -> owns(1));
    awaitFlow();
    assertNoDuplicates();
  }

  /*
   * On InfiniBand each bridge also receives the packets that the other one sends into the subnet.
   * It recognises them by their source address.
   */
  @Test
  @WholeRunOnly
  void infinibandDrainAndKillDuplicateNoPayload() throws Exception {
    BuildOutputs.standinManager();
    infiniband = true;
    StandinControl.run("create", standin(0));
    startBoth(800);
    assertEquals(List.of("a", "b"), redundancy(1).peers().getFirst().receivedOn());
    handOver(1);
    bridges[2].kill();
    await("the first takes over", () -> owns(1));
    awaitFlow();
    assertNoDuplicates();
    Direction fromSubnet = BridgeStatus.read(status(1)).groups().getFirst().directions().getFirst();
    assertTrue(fromSubnet.drops().getOrDefault("known-bridge", 0L) > 0, fromSubnet.toString());
  }

  @Test
  @WholeRunOnly
  void handoversDuplicateNoPayloadAndBackupTakesOverWithinHold() throws Exception {
    int beaconMs = 200;
    double holdMs = beaconMs * 3.5;
    startBoth(beaconMs);
    handOver(20);
    double best = Double.MAX_VALUE;
    for (int i = 0; i < KILLS && best > holdMs + 50; i++) {
      int begin = load.output().length();
      bridges[2].kill();
      await("the first takes over", () -> owns(1));
      awaitFlow();
      double pauseMs = longestPauseMs(begin);
      System.out.println("killed: longest time without a payload " + pauseMs + " ms");
      best = Math.min(best, pauseMs);
      startBridge(2, beaconMs);
      awaitOwner(2);
      awaitFlow();
    }
    assertNoDuplicates();
    assertTrue(best <= holdMs + 50, "the shortest gap of " + KILLS + " was " + best + " ms");
  }
}
