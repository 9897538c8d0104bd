package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ConnectReject;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of hosts in two fabrics that resolve each other's queue pairs by SIDR across a bridge, and
 * then communicate.
 */
@EndsWithin(120)
@SystemTest
class UnicastInNamespacesTest extends BridgedFabrics {
  private static final int CLIENTS = 8;
  private static final int SERVICES = 4;

  @BeforeEach
  void setUp() {
    open(1500);
    run(0, UnicastRoutes.of(config()).lines().filter(line -> line.startsWith("  ip ")).toList());
    run(
        HOST_A,
        List.of(
            "ip route add 10.2.0.0/24 via 10.1.0.254", "ip -6 route add fd02::/64 via fd01::254"));
    run(
        HOST_B,
        List.of(
            "ip route add 10.1.0.0/24 via 10.2.0.254", "ip -6 route add fd01::/64 via fd02::254"));
    start(config());
  }

  private BridgeConfig config() {
    return config(
        "interface = e1\nprefix = 10.1.0.0/24,fd01::/64",
        "interface = e2\nprefix = 10.2.0.0/24,fd02::/64",
        List.of("[unicast]"));
  }

  @Test
  void servesManyClientsWithEqualIdsDespiteLossAndRepeats() {
    long beganNs = System.nanoTime();
    List<SidrServer> servers = new ArrayList<>();
    List<SidrClient> clients = new ArrayList<>();
    List<SidrServer> asked = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      int near = side == 0 ? HOST_A : HOST_B;
      int far = side == 0 ? HOST_B : HOST_A;
      for (boolean ipv4 : new boolean[] {true, false}) {
        String nearNet = ipv4 ? "10." + near + ".0." : "fd0" + near + "::";
        String farNet = ipv4 ? "10." + far + ".0." : "fd0" + far + "::";
        SidrServer server = new SidrServer(endAt(far, farNet + 100));
        servers.add(server);
        List<String> addresses =
            IntStream.range(0, CLIENTS).mapToObj(i -> nearNet + (10 + i)).toList();
        int queuePair = 0x2000;
        for (DatagramEnd end : endsAt(near, addresses)) {
          clients.add(new SidrClient(end, address(farNet + 100), queuePair, SERVICES));
          asked.add(server);
          queuePair += 0x100;
        }
      }
    }
    await(() -> {
      clients.forEach(SidrClient::work);
      servers.forEach(SidrServer::work);
      return clients.stream().allMatch(SidrClient::isDone);
    });
    for (int i = 0; i < clients.size(); i++) {
      clients.get(i).check(asked.get(i));
    }
    for (SidrServer each : servers) {
      assertTrue(each.ids().size() >= CLIENTS * SERVICES, "a request id for each request");
      assertTrue(each.echoes() >= CLIENTS * SERVICES);
    }
    for (int side = 0; side < 2; side++) {
      int from = side;
      await(() -> direction(from).arrived() == settled(direction(from)));
      BridgeStatus.Clients counted = unicast().clients().get(side);
      assertTrue(counted.replies() >= 2 * 2 * CLIENTS * SERVICES, counted.toString());
      assertEquals(0, counted.requestsEvicted(), counted.toString());
      /*
       * A pair is a client and a server. Per IP version, each client of this side has a pair with a
       * server of the other side, and each client of the other side has a pair with a server of
       * this side.
       */
      assertEquals(2 * 2 * CLIENTS, counted.pairs(), counted.toString());
      Map<String, Long> drops = new TreeMap<>(direction(side).drops());
      drops.remove("unknown-reply");
      assertEquals(Map.of(), drops, "only duplicate replies are dropped");
      /*
       * After 10 s a request expires, and its repetition counts as a new request. So the counts of
       * requests are exact only in the first 10 s.
       */
      if (System.nanoTime() - beganNs < SidrRequests.WAIT_NS) {
        assertEquals(2 * CLIENTS * SERVICES, counted.requests(), counted.toString());
        assertTrue(counted.repeats() >= 2 * 2 * CLIENTS * SERVICES, counted.toString());
        assertEquals(0, counted.timedOut(), counted.toString());
      }
    }
  }

  private static void put(DatagramEnd end, int at, int value) {
    Memory.ALL.set(ValueLayout.JAVA_BYTE, end.packet() + at, (byte) value);
  }

  @Test
  void countsDropsUnderTheirReasons() {
    DatagramEnd a = endAt(HOST_A, "10.1.0.10");
    DatagramEnd foreign = endAt(HOST_A, "192.168.9.7");
    DatagramEnd b = endAt(HOST_B, "10.2.0.10");
    DatagramEnd other = endAt(HOST_B, "10.2.0.11");
    int service = 7000;
    int covered = DatagramFormat.HEADER_BYTES + Long.BYTES;

    a.sendNumber(b.address(), 5, 6, 7, 1);
    put(a, covered + 1, 0x5a);
    a.sendRaw(b.address(), covered + 4);
    a.sendRaw(b.address(), covered + 3);
    a.sendNumber(b.address(), 0, 6, 7, 1);
    a.sendNumber(b.address(), 0xff_ffff, 6, 7, 1);
    a.sendNumber(b.address(), ManagementDatagram.QUEUE_PAIR, 1, 7, 1);
    a.sendNumber(b.address(), ManagementDatagram.QUEUE_PAIR, 1, ManagementDatagram.QUEUE_KEY, 1);
    a.sendNumber(address("10.2.0.254"), 5, 6, 7, 1);
    run(HOST_A, List.of("ip route add 10.3.0.0/24 via 10.1.0.254"));
    run(
        0,
        List.of(
            "ip rule add iif e1 to 10.3.0.0/24 lookup 4791",
            "ip route add local 10.3.0.0/24 dev lo table 4791"));
    a.sendNumber(address("10.3.0.1"), 5, 6, 7, 1);
    foreign.sendNumber(b.address(), 5, 6, 7, 1);
    SidrRequest.write(a.payload(), 1, 1, CmaHeader.datagramService(service));
    Memory.ALL.set(ValueLayout.JAVA_BYTE, SidrRequest.privateData(a.payload()), (byte) 9);
    a.sendMad(b.address());
    SidrRequest.write(a.payload(), 1, 1, CmaHeader.datagramService(service));
    Memory.ALL.set(Memory.NETWORK_SHORT, a.payload() + 16, (short) 0x15);
    a.sendMad(b.address());
    SidrReply.write(a.payload(), 1, 77, 0, 5, 6, CmaHeader.datagramService(service));
    a.sendMad(b.address());
    await(() -> settled(direction(0)) == 13);
    Map<String, Long> expected = new TreeMap<>();
    expected.put("bad-checksum", 1L);
    expected.put("malformed", 1L);
    expected.put("wrong-queue-pair", 2L);
    expected.put("wrong-queue-key", 1L);
    expected.put("malformed-mad", 2L);
    expected.put("foreign-destination", 2L);
    expected.put("foreign-source", 1L);
    expected.put("other-mad", 1L);
    expected.put("unknown-reply", 1L);
    assertEquals(expected, direction(0).drops());
    assertEquals(1, direction(0).forwarded());
    assertEquals(0, unicast().clients().getFirst().requests(), "no state is left");

    /*
     * A service is requested from one host, and another host answers. The bridge drops that answer.
     */
    SidrRequest.write(a.payload(), 1, 1, CmaHeader.datagramService(service));
    CmaHeader.write(SidrRequest.privateData(a.payload()), 9, a.address(), b.address());
    a.sendMad(b.address());
    await(b::receive);
    await(() -> DatagramFormat.queueKey(b.packet()) != 7 || b.receive());
    int id = SidrRequest.requestId(b.payload());
    SidrReply.write(other.payload(), 1, id, 0, 5, 6, CmaHeader.datagramService(service));
    other.sendMad(a.address());
    await(() -> settled(direction(1)) == 1);
    assertEquals(Map.of("foreign-reply", 1L), direction(1).drops());
    SidrReply.write(b.payload(), 1, id, 1, 0, 0, CmaHeader.datagramService(service));
    b.sendMad(a.address());
    await(a::receive);
    assertEquals(1, SidrReply.status(a.payload()), "a refusal is passed on");
    assertEquals(1, SidrReply.requestId(a.payload()));
  }

  @Test
  void reliableConnectionIsRejectedInServersName() {
    DatagramEnd a = endAt(HOST_A, "fd01::10");
    DatagramEnd b = endAt(HOST_B, "fd02::10");
    SidrRequest.write(a.payload(), 0xabc, 0x1234, CmaHeader.datagramService(7000));
    Memory.ALL.set(Memory.NETWORK_SHORT, a.payload() + 16, (short) 0x10);
    a.sendMad(b.address());
    await(a::receive);
    assertEquals(b.address(), a.from());
    long mad = a.payload();
    assertEquals(
        CmMessage.CONNECT_REJECT, ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES));
    assertEquals(0xabc, ManagementDatagram.transaction(mad));
    assertEquals(0x1234, ConnectReject.remoteId(mad));
    assertEquals(ConnectReject.REASON_TRANSPORT_SERVICE, ConnectReject.reason(mad));
    await(() -> settled(direction(0)) == 1);
    assertEquals(Map.of("reliable-connection", 1L), direction(0).drops());
    assertFalse(b.receive());
    String table = BridgeTable.of(BridgeStatus.read(folder.resolve("status")));
    assertTrue(table.contains("reliable-connection 1\n"), table);
    assertTrue(
        table.contains("\nclients of a: requests 0, repeats 0, replies 0, waiting 0"), table);
  }
}
