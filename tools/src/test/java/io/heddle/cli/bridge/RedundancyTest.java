package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.redundancy.BridgeOrders;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.RedundancyStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.NumberedLoad;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Test of two bridges between the same two fabrics under load: control orders, a killed bridge, and
 * lost beacons.
 */
@EndsWithin(180)
@SystemTest
class RedundancyTest {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int HOST_A = 1;
  private static final int HOST_B = 2;
  private static final int MTU = 1500;
  private static final long POLL_NS = 2_000_000;
  private static final long SOME = 100;

  @TempDir private Path folder;
  private final List<AutoCloseable> open = new ArrayList<>();
  private TwoFabrics fabrics;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @BeforeEach
  void setUp() {
    fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, MTU, 2);
    open.add(fabrics);
  }

  @AfterEach
  void tearDown() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  private String config(int number, String beacon, String... more) {
    int last = 255 - number;
    return """
    name = test%1$s
    status = %2$s
    control = %3$s
    [fabric a]
    interface = e1
    address = 10.1.0.%4$s
    [fabric b]
    interface = e2
    address = 10.2.0.%4$s
    [redundancy]
    bridge-id = %1$s
    beacon = %5$s
    %6$s
    """
        .formatted(number, status(number), control(number), last, beacon, String.join("\n", more));
  }

  private Path status(int number) {
    return folder.resolve("status" + number);
  }

  private Path control(int number) {
    return folder.resolve("control" + number);
  }

  private Bridge start(int number, String beacon, String... more) {
    Bridge bridge =
        BridgeDemo.inNamespace(
            fabrics.namespace(fabrics.gateway(number - 1)),
            BridgeConfigParser.parse("bridge.conf", config(number, beacon, more)));
    open.add(bridge);
    return bridge;
  }

  private BridgeStatus read(int number) {
    return BridgeStatus.read(status(number));
  }

  private RedundancyStatus redundancy(int number) {
    return Objects.requireNonNull(read(number).redundancy());
  }

  private BridgeStatus.Direction fromA(int number) {
    return read(number).groups().getFirst().directions().getFirst();
  }

  private boolean is(int number, String role) {
    try {
      BridgeStatus status = read(number);
      RedundancyStatus redundancy = status.redundancy();
      return redundancy != null
          && redundancy.settled()
          && status.groups().getFirst().role().equals(role);
    } catch (HeddleException notYet) {
      return false;
    }
  }

  private void await(String what, BooleanSupplier holds) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (!holds.getAsBoolean()) {
      assertFalse(deadline.isOver(), () -> what + " within " + deadline + ": " + read(2));
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private void awaitFlow(NumberedLoad load) {
    long wanted = load.sent() + SOME;
    await("payloads flow", () -> load.newest() >= wanted);
  }

  @Test
  void ordersAndKillDuplicateNothingAndHandoverLossIsCounted() throws Exception {
    Path file = folder.resolve("bridge1.conf");
    Files.writeString(file, config(1, "800ms", "[group 239.1.1.1]\nowner = 2"));
    BridgeProcess first = BridgeProcess.start(fabrics, fabrics.gateway(0), file);
    open.add(first);
    Bridge second = start(2, "800ms", "[group 239.1.1.1]\nowner = 2");
    await("the first is standby", () -> is(1, "standby"));
    await("the second owns", () -> is(2, "owner"));
    await(
        "the first could take over",
        () -> redundancy(2).peers().stream().anyMatch(each -> each.state().equals("standby")));
    assertEquals(List.of("a", "b"), redundancy(1).peers().getFirst().receivedOn());
    NumberedLoad load = new NumberedLoad(fabrics, HOST_A, HOST_B, GROUP);
    open.add(load);
    awaitFlow(load);
    long begun = load.newest();

    BridgeOrders orders = Objects.requireNonNull(second.orders());
    BridgeOrders.Outcome drained = orders.drain();
    assertTrue(drained.followed(), drained.text());
    assertEquals(0, drained.owned());
    awaitFlow(load);
    assertEquals("owner", read(1).groups().getFirst().role());
    assertTrue(orders.endDrain().followed());
    await("the second owns again", () -> is(2, "owner"));
    awaitFlow(load);
    assertEquals("this bridge owns 239.1.1.1; it owns 1 group", order("take", "239.1.1.1").strip());
    awaitFlow(load);
    assertTrue(
        order("yield", "239.1.1.1", "--json").replace(" ", "").contains("\"followed\":true"));
    awaitFlow(load);
    assertEquals("owner", read(2).groups().getFirst().role());
    BridgeOrders.Outcome yielded = orders.yield("239.1.1.1");
    assertEquals("bridge 1 owns 239.1.1.1; it owns 0 groups", yielded.text());
    awaitFlow(load);
    assertEquals(0, load.countArrived(2, 0));
    /* Payloads may be lost at handovers only, and the bridges must have counted each. */
    long lost = load.lost(begun);
    long counted = dropped(1, "no-owner") + dropped(2, "no-owner");
    System.out.println("five hand-overs lost " + lost + " payloads, counted " + counted);
    assertTrue(lost <= counted, "lost " + lost + ", counted " + counted);

    assertTrue(first.isAlive());
    long before = load.sent();
    first.kill();
    await("the second takes over", () -> is(2, "owner"));
    awaitFlow(load);
    load.stopSending();
    System.out.println("the kill lost " + load.longestGap(before) + " payloads in a row");
    assertEquals(0, load.countArrived(2, 0), "payloads came twice");
    assertEquals(0, load.damaged());
    assertTrue(
        read(2).lastError().startsWith("bridge 1 is silent on both fabrics"), read(2).lastError());
    assertEquals("silent", redundancy(2).peers().getFirst().state());
    assertThrows(HeddleException.class, orders::drain, "no other bridge could take over");
  }

  /* Sends an order to the first bridge through its control socket, and returns the output. */
  private String order(String... words) {
    List<String> arguments = new ArrayList<>(List.of(words));
    arguments.addAll(List.of("--control", control(1).toString()));
    StringWriter output = new StringWriter();
    CommandLine command = new CommandLine(new BridgeCommand()).setOut(new PrintWriter(output));
    assertEquals(0, command.execute(arguments.toArray(String[]::new)), output::toString);
    return output.toString();
  }

  private long dropped(int number, String reason) {
    return fromA(number).drops().getOrDefault(reason, 0L);
  }

  private void dropBeacons(int number, String link) {
    int host = fabrics.gateway(number - 1);
    fabrics.runAt(host, List.of("nft", "add", "table", "inet", "cut" + link));
    fabrics.runAt(
        host,
        List.of("nft", "add chain inet cut" + link + " in { type filter hook input priority 0; }"));
    fabrics.runAt(
        host,
        List.of(
            "nft", "add rule inet cut" + link + " in iifname " + link + " udp dport 14791 drop"));
  }

  @Test
  void beaconLossOnOneFabricMovesNothingAndOnBothCausesNoLoop() throws Exception {
    start(1, "100ms", "[group 239.1.1.1]");
    start(2, "100ms", "[group 239.1.1.1]");
    await(
        "both agree",
        () -> is(1, "owner") && is(2, "standby") || is(2, "owner") && is(1, "standby"));
    int owner = is(1, "owner") ? 1 : 2;
    NumberedLoad load = new NumberedLoad(fabrics, HOST_A, HOST_B, GROUP);
    open.add(load);
    awaitFlow(load);

    dropBeacons(1, "e1");
    dropBeacons(2, "e1");
    for (int number = 1; number <= 2; number++) {
      int bridge = number;
      await(
          "bridge " + number + " reports",
          () ->
              read(bridge).lastError().contains("is heard on fabric b only")
                  && redundancy(bridge).peers().getFirst().receivedOn().equals(List.of("b")));
    }
    awaitFlow(load);
    await("nothing moved", () -> is(owner, "owner") && is(3 - owner, "standby"));

    dropBeacons(1, "e2");
    dropBeacons(2, "e2");
    await("both own", () -> is(1, "owner") && is(2, "owner"));
    for (int number = 1; number <= 2; number++) {
      int bridge = number;
      await(
          "bridge " + number + " reports",
          () -> read(bridge).lastError().contains("is silent on both fabrics"));
    }
    long split = load.sent();
    awaitFlow(load);
    await("payloads come twice", () -> load.countArrived(2, split) > SOME);
    assertEquals(0, load.countArrived(3, 0), "payloads looped");
    assertFalse(read(1).groups().getFirst().suspended() || read(2).groups().getFirst().suspended());
    String shown = BridgeTable.of(read(1));
    assertTrue(shown.contains("silent, heard on none"), shown);

    for (String link : List.of("e1", "e2")) {
      fabrics.runAt(fabrics.gateway(0), List.of("nft", "delete", "table", "inet", "cut" + link));
      fabrics.runAt(fabrics.gateway(1), List.of("nft", "delete", "table", "inet", "cut" + link));
    }
    await("one owns again", () -> is(owner, "owner") && is(3 - owner, "standby"));
    awaitFlow(load);
  }

  private void setLink(int number, String state) {
    fabrics.runAt(fabrics.gateway(number - 1), List.of("ip", "link", "set", "e2", state));
  }

  @Test
  void bridgeThatLosesLinkHandsGroupOver() throws Exception {
    start(1, "800ms", "[group 239.1.1.1]");
    start(2, "800ms", "[group 239.1.1.1]");
    await(
        "both agree",
        () -> is(1, "owner") && is(2, "standby") || is(2, "owner") && is(1, "standby"));
    int owner = is(1, "owner") ? 1 : 2;
    NumberedLoad load = new NumberedLoad(fabrics, HOST_A, HOST_B, GROUP);
    open.add(load);
    awaitFlow(load);
    setLink(owner, "down");
    await(
        "the other one owns",
        () -> is(3 - owner, "owner") && redundancy(owner).fabricsUp().equals(List.of("a")));
    awaitFlow(load);
    setLink(owner, "up");
    await(
        "both agree again",
        () ->
            redundancy(owner).fabricsUp().size() == 2
                && (is(1, "owner") && is(2, "standby") || is(2, "owner") && is(1, "standby")));
    awaitFlow(load);
    assertEquals(0, load.countArrived(2, 0), "no payload came twice");
  }
}
