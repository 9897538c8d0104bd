package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.AddressHandle;
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
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import io.heddle.verbs.testing.Endpoint;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests datagram queue pairs and multicast groups. */
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#arePresent",
    disabledReason = "libibverbs lists no device here")
class DatagramTest {
  private static final int QUEUE_KEY = 0x1234_5678;
  private static final int BUFFER_BYTES = 8192;
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final long SILENCE_NS = 200_000_000L;

  private final LeakLedger ledger = new LeakLedger();
  private End left;
  private End right;

  /** One end of a transfer: a device with a datagram queue pair and a buffer. */
  private static final class End implements AutoCloseable {
    final DeviceContext context;
    final GidTable.Entry address;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    final DatagramQueuePair qp;
    final Arena arena = Arena.ofShared();
    final MemoryRegion mr;
    final WorkCompletion[] one = WorkCompletion.batch(1);

    End(DeviceContext context) {
      this.context = context;
      int index = TestDevices.gidIndex(context);
      address =
          context.gidTable().entries().stream()
              .filter(entry -> entry.index() == index)
              .findFirst()
              .orElseThrow();
      pd = context.allocateProtectionDomain();
      cq = context.createCompletionQueue(64);
      qp = pd.createDatagramQueuePair(new QueuePairAttributes(cq, cq, 16, 16));
      mr =
          pd.registerMemory(
              Memory.allocate(arena, BUFFER_BYTES, 4096), BUFFER_BYTES, Endpoint.ALL_ACCESS);
    }

    AddressHandle handleOf(Gid remote) {
      return pd.createAddressHandle(new AddressHandleAttributes(address.gid(), remote, 0, 0));
    }

    void fill(int lengthBytes) {
      for (int i = 0; i < lengthBytes; i++) {
        Memory.ALL.set(
            java.lang.foreign.ValueLayout.JAVA_BYTE, mr.address() + i, Endpoint.pattern(i, 5));
      }
    }

    WorkCompletion await() {
      assertTrue(completesWithin(DEADLINE_NS), "no completion");
      return one[0];
    }

    boolean completesWithin(long limitNs) {
      long start = System.nanoTime();
      while (System.nanoTime() - start < limitNs) {
        int count = cq.poll(one);
        if (count < 0) {
          fail("completion queue: " + count);
        }
        if (count == 1) {
          return true;
        }
      }
      return false;
    }

    @Override
    public void close() {
      context.close();
      arena.close();
    }
  }

  @BeforeEach
  void openBothEnds() {
    DeviceContext context = TestDevices.openLeft(ledger);
    try {
      left = new End(context);
    } catch (VerbsException refused) {
      context.close();
      assumeTrue(refused.errno() != Errno.EOPNOTSUPP, "this device has no datagrams");
      throw refused;
    }
    right = new End(TestDevices.openRight(ledger));
  }

  @AfterEach
  void closeBothEndsAndCheckLeaks() {
    if (left != null) {
      left.close();
    }
    if (right != null) {
      right.close();
    }
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  private DatagramWorkRequest request(AddressHandle to, int number, int lengthBytes) {
    DatagramWorkRequest wr = new DatagramWorkRequest();
    wr.id = 7;
    wr.signalled = true;
    wr.localAddress = left.mr.address();
    wr.lengthBytes = lengthBytes;
    wr.lkey = left.mr.lkey();
    wr.destination = to;
    wr.remoteQueuePairNumber = number;
    wr.remoteQueueKey = QUEUE_KEY;
    return wr;
  }

  private void startBoth() {
    left.qp.start(QUEUE_KEY);
    right.qp.start(QUEUE_KEY);
    assertEquals(
        0, right.qp.postReceive(9, right.mr.address(), BUFFER_BYTES, right.mr.lkey()), "receive");
  }

  @Test
  void datagramArrivesWithHeaderSenderAndImmediate() {
    startBoth();
    left.fill(1000);
    DatagramWorkRequest wr = request(left.handleOf(right.address.gid()), right.qp.number(), 1000);
    wr.hasImmediate = true;
    wr.immediate = 0xcafe_f00d;

    assertEquals(1, left.qp.postSend(wr));

    WorkCompletion received = right.await();
    assertEquals(Status.SUCCESS, received.status);
    assertEquals(Kind.RECEIVE, received.kind);
    assertEquals(9, received.workRequestId);
    assertEquals(DatagramQueuePair.HEADER_BYTES + 1000, received.lengthBytes);
    assertEquals(left.qp.number(), received.sourceQueuePairNumber);
    assertTrue(received.hasImmediate);
    assertEquals(0xcafe_f00d, received.immediate);
    assertArrayEquals(
        Memory.toArray(left.mr.address(), 1000),
        Memory.toArray(right.mr.address() + DatagramQueuePair.HEADER_BYTES, 1000));
    assertEquals(Status.SUCCESS, left.await().status);
  }

  @Test
  void datagramWithWrongKeyIsDropped() {
    startBoth();
    DatagramWorkRequest wr = request(left.handleOf(right.address.gid()), right.qp.number(), 100);
    wr.remoteQueueKey = QUEUE_KEY + 1;
    assertEquals(1, left.qp.postSend(wr));
    assertEquals(Status.SUCCESS, left.await().status);
    assertFalse(right.completesWithin(SILENCE_NS));
  }

  @Test
  void memberReceivesGroupTrafficUntilDetached() throws Exception {
    startBoth();
    InetAddress group = InetAddress.getByName("ff1e::4791:77");
    NetworkInterface netdev = NetworkInterface.getByIndex(right.address.interfaceIndex());
    assumeTrue(netdev != null, "the device has no network interface here");
    AddressHandle handle = left.handleOf(Gid.of(group));
    DatagramWorkRequest wr = request(handle, DatagramQueuePair.MULTICAST_NUMBER, 200);
    left.fill(200);
    try (DatagramChannel member = DatagramChannel.open(StandardProtocolFamily.INET6)) {
      member.join(group, netdev); /* up to Linux 6.7, rxe doesn't join the group by itself */
      right.qp.attachMulticast(Gid.of(group));

      assertEquals(1, left.qp.postSend(wr));
      assertEquals(Status.SUCCESS, left.await().status);
      WorkCompletion received = right.await();
      assertEquals(DatagramQueuePair.HEADER_BYTES + 200, received.lengthBytes);
      assertArrayEquals(
          Memory.toArray(left.mr.address(), 200),
          Memory.toArray(right.mr.address() + DatagramQueuePair.HEADER_BYTES, 200));

      right.qp.detachMulticast(Gid.of(group));
      right.qp.postReceive(10, right.mr.address(), BUFFER_BYTES, right.mr.lkey());
      assertEquals(1, left.qp.postSend(wr));
      assertFalse(right.completesWithin(SILENCE_NS), "it has left the group");
    }
  }

  @Test
  void closedMemberLeavesGroup() throws Exception {
    startBoth();
    right.qp.attachMulticast(Gid.of(InetAddress.getByName("ff1e::4791:78")));
    right.qp.close();
    right.qp.close();
  }

  @Test
  void postingBeforeStartOrWithoutDestinationIsAnErrorCode() {
    AddressHandle handle = left.handleOf(right.address.gid());
    assertEquals(-Errno.EINVAL, left.qp.postSend(request(handle, right.qp.number(), 8)));
    assertEquals(
        -Errno.EINVAL, left.qp.postReceive(1, left.mr.address(), BUFFER_BYTES, left.mr.lkey()));
    left.qp.start(QUEUE_KEY);
    DatagramWorkRequest nowhere = request(handle, right.qp.number(), 8);
    nowhere.destination = null;
    assertEquals(-Errno.EINVAL, left.qp.postSend(nowhere));
    handle.close();
    assertEquals(-Errno.EINVAL, left.qp.postSend(request(handle, right.qp.number(), 8)));
    assertThrows(VerbsException.class, () -> left.qp.start(QUEUE_KEY));
  }

  @Test
  void toErrorFlushesAndResetMakesItNew() {
    startBoth();
    right.qp.toError();
    assertEquals(Status.WORK_REQUEST_FLUSHED, right.await().status);
    assertEquals(QueuePairState.ERROR, right.qp.state());
    right.qp.reset();
    assertEquals(QueuePairState.RESET, right.qp.state());
    right.qp.start(QUEUE_KEY);
    assertEquals(QueuePairState.READY_TO_SEND, right.qp.state());
  }

  @Test
  void completionWakesSleeperAfterArm() {
    CompletionQueue cq = right.context.createPollableCompletionQueue(16);
    try (DatagramQueuePair qp =
        right.pd.createDatagramQueuePair(new QueuePairAttributes(cq, cq, 4, 4))) {
      left.qp.start(QUEUE_KEY);
      qp.start(QUEUE_KEY);
      for (int i = 0; i < 4; i++) {
        qp.postReceive(i, right.mr.address(), BUFFER_BYTES, right.mr.lkey());
      }
      DatagramWorkRequest wr = request(left.handleOf(right.address.gid()), qp.number(), 64);
      for (int round = 0; round < 2; round++) {
        cq.arm();
        cq.arm();
        assertFalse(LinuxCalls.isReadable(cq.descriptor()), "nothing has come");
        assertEquals(0, cq.poll(right.one));
        assertEquals(1, left.qp.postSend(wr));
        awaitReadable(cq.descriptor());
        assertEquals(1, cq.poll(right.one));
        assertEquals(round, right.one[0].workRequestId);
      }
    }
    cq.close();
    assertEquals(-1, right.cq.descriptor());
    assertThrows(VerbsException.class, right.cq::arm);
  }

  private static void awaitReadable(int descriptor) {
    long start = System.nanoTime();
    while (!LinuxCalls.isReadable(descriptor)) {
      assertTrue(System.nanoTime() - start < DEADLINE_NS, "no wake-up");
    }
  }

  @Test
  void unknownAddressIsNamed() {
    Gid elsewhere = new Gid(0xfd99L << 48, 1);
    VerbsException refused =
        assertThrows(
            VerbsException.class,
            () ->
                left.pd.createAddressHandle(
                    new AddressHandleAttributes(elsewhere, right.address.gid(), 0, 0)));
    assertEquals(Errno.EADDRNOTAVAIL, refused.errno());
    assertTrue(refused.getMessage().contains(elsewhere.toString()), refused.getMessage());
  }
}
