package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DatagramWorkRequest;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of datagrams between two InfiniBand ports of the stand-in for libibverbs. The tests run in
 * a separate process, in whose environment the stand-in has such ports (see this module's pom).
 */
@EndsWithin(60)
@SystemTest
final class InfinibandDatagramTest {
  private static final int QUEUE_KEY = 0x1234_5678;
  /* Queue key that RDMA CM uses for multicast groups. */
  private static final int GROUP_KEY = 0x0123_4567;
  private static final int HEADER_BYTES = DatagramQueuePair.HEADER_BYTES;
  private static final int BUFFER_BYTES = 8192;
  private static final int SEND_AT = 4096;
  private static final byte UNTOUCHED = 0x5a;
  private static final Gid GROUP = new Gid(0xff1eL << 48, 0x4791);

  private final LeakLedger ledger = new LeakLedger();
  private End left;
  private End right;

  /** A port with a datagram queue pair and a buffer. Sends use the upper half of the buffer. */
  private static final class End implements AutoCloseable {
    final DeviceContext context;
    final Gid own;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    final DatagramQueuePair qp;
    final Arena arena = Arena.ofShared();
    final MemoryRegion mr;
    final WorkCompletion[] one = WorkCompletion.batch(1);

    End(DeviceContext context) {
      this.context = context;
      own = context.gidTable().entries().getFirst().gid();
      pd = context.allocateProtectionDomain();
      cq = context.createCompletionQueue(16);
      qp = pd.createDatagramQueuePair(new QueuePairAttributes(cq, cq, 4, 4));
      mr =
          pd.registerMemory(
              Memory.allocate(arena, BUFFER_BYTES, 4096),
              BUFFER_BYTES,
              EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE));
    }

    int lid() {
      return context.port().lid();
    }

    void postReceive() {
      for (int i = 0; i < HEADER_BYTES; i++) {
        Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, mr.address() + i, UNTOUCHED);
      }
      assertEquals(0, qp.postReceive(9, mr.address(), SEND_AT, mr.lkey()));
    }

    WorkCompletion await() {
      Deadline deadline = Deadline.ofSeconds(20);
      while (cq.poll(one) == 0) {
        assertFalse(deadline.isOver(), "no completion");
      }
      assertEquals(WorkCompletion.Status.SUCCESS, one[0].status);
      return one[0];
    }

    void send(AddressHandleAttributes to, int number) {
      DatagramWorkRequest request = new DatagramWorkRequest();
      request.signalled = true;
      request.localAddress = mr.address() + SEND_AT;
      request.lengthBytes = 100;
      request.lkey = mr.lkey();
      request.destination = pd.createAddressHandle(to);
      request.remoteQueuePairNumber = number;
      request.remoteQueueKey = QUEUE_KEY;
      for (int i = 0; i < request.lengthBytes; i++) {
        Memory.ALL.set(
            java.lang.foreign.ValueLayout.JAVA_BYTE, request.localAddress + i, (byte) (i * 5));
      }
      assertEquals(1, qp.postSend(request));
      await();
    }

    @Override
    public void close() {
      context.close();
      arena.close();
    }
  }

  @BeforeAll
  static void requireStandin() {
    BuildOutputs.standin();
    if (!"infiniband".equals(System.getenv("STANDIN_LINK"))) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @BeforeEach
  void open() {
    left = new End(LibibverbsDevices.open("standin0", ledger));
    right = new End(LibibverbsDevices.open("standin1", ledger));
  }

  @AfterEach
  void close() {
    left.close();
    right.close();
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  private AddressHandleAttributes byLid(int lid, int serviceLevel) {
    return new AddressHandleAttributes(left.own, right.own, 0, serviceLevel, 0, lid, false, 0);
  }

  private AddressHandleAttributes toGroup(int lid) {
    return new AddressHandleAttributes(left.own, GROUP, 0x20, 2, 3, lid, true, 0);
  }

  private void start() {
    left.qp.start(QUEUE_KEY);
    right.qp.start(QUEUE_KEY);
  }

  @Test
  void portReportsLinkLayerAndLid() {
    assertFalse(left.context.port().ethernet());
    assertEquals(List.of(1, 2), List.of(left.lid(), right.lid()));
    GidTable table = left.context.gidTable();
    assertTrue(table.entries().stream().allMatch(each -> each.type() == GidTable.Type.INFINIBAND));
    assertEquals(0, table.indexOf(left.own).orElseThrow());
  }

  @Test
  void onlyDatagramByGidHasRouteHeader() {
    start();
    right.postReceive();
    left.send(byLid(right.lid(), 5), right.qp.number());
    WorkCompletion got = right.await();
    assertEquals(left.lid(), got.sourceLid);
    assertEquals(5, got.serviceLevel);
    assertFalse(got.hasRouteHeader);
    assertEquals(HEADER_BYTES + 100, got.lengthBytes);
    for (byte each : Memory.toArray(right.mr.address(), HEADER_BYTES)) {
      assertEquals(UNTOUCHED, each);
    }
    assertArrayEquals(
        Memory.toArray(left.mr.address() + SEND_AT, 100),
        Memory.toArray(right.mr.address() + HEADER_BYTES, 100));

    right.postReceive();
    AddressHandleAttributes byGid =
        new AddressHandleAttributes(left.own, right.own, 0x20, 0, 7, right.lid(), true, 0);
    left.send(byGid, right.qp.number());
    got = right.await();
    assertTrue(got.hasRouteHeader);
    byte[] header = Memory.toArray(right.mr.address(), HEADER_BYTES);
    assertEquals(0x62, header[0], "version and traffic class");
    assertEquals(7, header[7], "hop limit");
    assertArrayEquals(left.own.toBytes(), java.util.Arrays.copyOfRange(header, 8, 24));
    assertArrayEquals(right.own.toBytes(), java.util.Arrays.copyOfRange(header, 24, 40));
  }

  @Test
  void attachesGroupByItsLidOnly() throws Exception {
    start();
    int lid = StandinControl.join("0/1", GROUP);
    StandinControl.run("send 0/0 " + GROUP);
    try {
      right.postReceive();
      for (int wrong : new int[] {0, right.lid(), lid + 1}) {
        VerbsException refused =
            assertThrows(VerbsException.class, () -> right.qp.attachMulticast(GROUP, wrong));
        assertEquals(Errno.EINVAL, refused.errno());
        assertTrue(
            refused.getMessage().contains("LID 0x" + Integer.toHexString(wrong)),
            refused.getMessage());
      }
      right.qp.attachMulticast(GROUP, lid);
      left.send(toGroup(lid), DatagramQueuePair.MULTICAST_NUMBER);
      WorkCompletion got = right.await();
      assertTrue(got.hasRouteHeader);
      assertEquals(left.lid(), got.sourceLid);
      assertEquals(2, got.serviceLevel);
      right.qp.detachMulticast(GROUP);
      right.qp.attachMulticast(GROUP, lid);
      right.qp.close(); /* leaves the group by its LID */
    } finally {
      StandinControl.run("leave 0/1 " + GROUP);
      StandinControl.run("unsend 0/0 " + GROUP);
    }
  }

  /*
   * The subnet manager determines the service level of a group's packets, and the bridge determines
   * their hop limit.
   */
  @Test
  void bridgePacketsHaveGroupsServiceLevelAndBridgesHopLimit() throws Exception {
    BuildOutputs.standinManager();
    Gid group = Gid.of(InetAddress.getByName("239.1.2.1"));
    Gid mgid = Gid.of(InetAddress.getByName("ff15:401b:ffff::f01:201"));
    VerbsSpec spec =
        new VerbsSpec(
            "a", "standin0", List.of(Gid.of(InetAddress.getByName("10.9.0.1"))), List.of(), 0, 9);
    right.qp.start(GROUP_KEY);
    right.postReceive();
    right.qp.attachMulticast(mgid, StandinControl.join("0/1", mgid));
    try (Arena arena = Arena.ofConfined();
        VerbsFabric bridge =
            VerbsFabric.open(spec, (level, sentence) -> {}, Memory.allocate(arena, 4096, 8))) {
      long at = Memory.allocate(arena, 4096, 8);
      long packet = Memory.allocate(arena, 256, 8);
      DatagramFormat.write(
          packet,
          DatagramFormat.SEND_ONLY,
          0,
          DatagramFormat.MULTICAST_QUEUE_PAIR,
          1,
          GROUP_KEY,
          0);
      int length =
          DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY) + 100 + PacketFormat.ICRC_BYTES;
      SendPath sendPath = bridge.sendPathTo(new GroupAddress(group, 0, MgidFormat.IPV4), 0x68);
      bridge.packets().send(sendPath, packet, length, 0, at, System.nanoTime());
      bridge.packets().flush();
      WorkCompletion got = right.await();
      assertEquals(3, got.serviceLevel, "STANDIN_SL");
      byte[] header = Memory.toArray(right.mr.address(), HEADER_BYTES);
      assertEquals(0x6680, (header[0] & 0xff) << 8 | header[1] & 0xff, "traffic class 0x68");
      assertEquals(9, header[7], "hop limit");
    } finally {
      StandinControl.run("leave 0/1 " + mgid);
    }
  }

  @Test
  void queuePairsOfOtherPartitionsReceiveNothing() {
    int index = left.context.partitionIndex(0x8001).orElseThrow();
    assertEquals(OptionalInt.of(0), left.context.partitionIndex(DeviceContext.DEFAULT_PARTITION));
    assertEquals(OptionalInt.empty(), left.context.partitionIndex(0x8002));
    left.qp.start(QUEUE_KEY, index);
    right.qp.start(QUEUE_KEY);
    right.postReceive();
    left.send(byLid(right.lid(), 0), right.qp.number());
    assertEquals(0, right.cq.poll(right.one), "the stand-in delivers at once");
    right.qp.reset();
    right.qp.start(QUEUE_KEY, index);
    right.postReceive();
    left.send(byLid(right.lid(), 0), right.qp.number());
    right.await();
    assertEquals(
        Errno.EINVAL,
        assertThrows(
                VerbsException.class,
                () -> {
                  left.qp.reset();
                  left.qp.start(QUEUE_KEY, 5);
                })
            .errno());
  }
}
