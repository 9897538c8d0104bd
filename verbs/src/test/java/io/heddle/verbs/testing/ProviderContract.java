package io.heddle.verbs.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.EnumSet;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Contract of every verbs provider. A provider's test extends it and opens two connected devices.
 */
public abstract class ProviderContract {
  private static final int BUFFER_BYTES = 1 << 20;

  private final LeakLedger ledger = new LeakLedger();
  private DeviceContext leftContext;
  private DeviceContext rightContext;
  protected Endpoint left;
  protected Endpoint right;

  /** Opens the sending end's device with the given ledger. */
  protected abstract DeviceContext openLeft(LeakLedger ledger);

  /** Opens the receiving end's device; may be a second context of the same device. */
  protected abstract DeviceContext openRight(LeakLedger ledger);

  /** Returns the GID index of the left end. */
  protected abstract int leftGidIndex(DeviceContext context);

  /** Returns the GID index of the right end. */
  protected abstract int rightGidIndex(DeviceContext context);

  @BeforeEach
  void openBothEnds() {
    leftContext = openLeft(ledger);
    rightContext = openRight(ledger);
    left = new Endpoint(leftContext, leftGidIndex(leftContext), BUFFER_BYTES);
    right = new Endpoint(rightContext, rightGidIndex(rightContext), BUFFER_BYTES);
  }

  @AfterEach
  void closeBothEndsAndCheckLeaks() {
    left.close();
    right.close();
    leftContext.close();
    rightContext.close();
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  private static void assertSucceeded(WorkCompletion wc, long id, Kind kind) {
    assertEquals(Status.SUCCESS, wc.status);
    assertEquals(id, wc.workRequestId);
    assertEquals(kind, wc.kind);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 128, 4095, 4096, 4097, 61_440, 61_441, 1 << 20})
  void writeWithImmediatePlacesBytesAndReportsLength(int lengthBytes) {
    Endpoint.connect(left, right);
    left.fill(lengthBytes, 1);
    assertEquals(0, right.qp.postEmptyReceives(77, 1));
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 5, lengthBytes, right);
    wr.immediate = 0xcafe_f00d;

    assertEquals(1, left.qp.postSend(wr));

    WorkCompletion received = right.awaitCompletion(left);
    assertSucceeded(received, 77, Kind.RECEIVE_RDMA_WITH_IMMEDIATE);
    assertTrue(received.hasImmediate);
    assertEquals(0xcafe_f00d, received.immediate);
    assertEquals(lengthBytes, received.lengthBytes);
    assertSucceeded(left.awaitCompletion(right), 5, Kind.RDMA_WRITE);
    assertArrayEquals(left.bytes(lengthBytes), right.bytes(lengthBytes));
  }

  @Test
  void plainWriteIsSeenByTheSenderOnly() {
    Endpoint.connect(left, right);
    left.fill(10_000, 2);
    assertEquals(0, right.qp.postEmptyReceives(1, 1));

    assertEquals(1, left.qp.postSend(left.request(Operation.RDMA_WRITE, 6, 10_000, right)));

    assertSucceeded(left.awaitCompletion(right), 6, Kind.RDMA_WRITE);
    assertArrayEquals(left.bytes(10_000), right.bytes(10_000));
    assertFalse(right.completesWithin(20_000_000, left), "a plain write completes nothing there");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 5_000, 200_000})
  void sendLandsInThePostedReceive(int lengthBytes) {
    Endpoint.connect(left, right);
    left.fill(lengthBytes, 3);
    assertEquals(0, right.qp.postReceive(9, right.mr.address(), 300_000, right.mr.lkey()));
    SendWorkRequest wr = left.request(Operation.SEND_WITH_IMMEDIATE, 7, lengthBytes, right);
    wr.immediate = 42;

    assertEquals(1, left.qp.postSend(wr));

    WorkCompletion received = right.awaitCompletion(left);
    assertSucceeded(received, 9, Kind.RECEIVE);
    assertEquals(lengthBytes, received.lengthBytes);
    assertTrue(received.hasImmediate);
    assertEquals(42, received.immediate);
    assertSucceeded(left.awaitCompletion(right), 7, Kind.SEND);
    assertArrayEquals(left.bytes(lengthBytes), right.bytes(lengthBytes));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 150_000})
  void readFetchesThePeersMemory(int lengthBytes) {
    Endpoint.connect(left, right);
    right.fill(lengthBytes, 4);

    assertEquals(1, left.qp.postSend(left.request(Operation.RDMA_READ, 8, lengthBytes, right)));

    WorkCompletion wc = left.awaitCompletion(right);
    assertSucceeded(wc, 8, Kind.RDMA_READ);
    assertEquals(lengthBytes, wc.lengthBytes);
    assertArrayEquals(right.bytes(lengthBytes), left.bytes(lengthBytes));
  }

  @ParameterizedTest
  @EnumSource(PathMtu.class)
  void everyPathMtuCarriesAWrite(PathMtu mtu) {
    PathMtu largest = leftContext.port().activeMtu();
    assumeTrue(mtu.bytes() <= largest.bytes(), "the port carries at most " + largest);
    Endpoint.connect(left, right, mtu, 14, 7);
    left.fill(70_001, 5);
    right.qp.postEmptyReceives(1, 1);
    left.qp.postSend(left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 70_001, right));
    assertSucceeded(right.awaitCompletion(left), 1, Kind.RECEIVE_RDMA_WITH_IMMEDIATE);
    assertArrayEquals(left.bytes(70_001), right.bytes(70_001));
    assertSucceeded(left.awaitCompletion(right), 1, Kind.RDMA_WRITE);
  }

  @Test
  void aListCompletesInOrderOfPosting() {
    Endpoint.connect(left, right);
    left.fill(30_000, 6);
    right.qp.postEmptyReceives(1, 30);
    SendWorkRequest first = null;
    for (int id = 29; id >= 0; id--) {
      SendWorkRequest wr =
          left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, id, 1 + id * 1000, right);
      wr.immediate = id;
      wr.next = first;
      first = wr;
    }
    assertEquals(30, left.qp.postSend(first));
    for (int id = 0; id < 30; id++) {
      assertSucceeded(left.awaitCompletion(right), id, Kind.RDMA_WRITE);
    }
    for (int id = 0; id < 30; id++) {
      assertEquals(id, right.awaitCompletion(left).immediate);
    }
  }

  @Test
  void unsignalledRequestsCompleteSilently() {
    Endpoint.connect(left, right);
    SendWorkRequest quiet = left.request(Operation.RDMA_WRITE, 1, 100, right);
    quiet.signalled = false;
    quiet.next = left.request(Operation.RDMA_WRITE, 2, 100, right);
    assertEquals(2, left.qp.postSend(quiet));
    assertSucceeded(left.awaitCompletion(right), 2, Kind.RDMA_WRITE);
    assertFalse(left.completesWithin(5_000_000, right));
  }

  @Test
  void fullSendQueueReturnsAcceptedCount() {
    Endpoint.connect(left, right);
    SendWorkRequest first = null;
    for (int i = 0; i < 200; i++) {
      SendWorkRequest wr = left.request(Operation.RDMA_WRITE, i, 1 << 20, right);
      wr.next = first;
      first = wr;
    }
    int taken = left.qp.postSend(first);
    assertTrue(taken >= 64 && taken < 200, "took " + taken);
    for (int i = 0; i < taken; i++) {
      assertSucceeded(left.awaitCompletion(right), 199 - i, Kind.RDMA_WRITE);
    }
  }

  @Test
  void writeBeyondTheRegionIsRefusedAndChangesNothing() {
    Endpoint.connect(left, right);
    left.fill(BUFFER_BYTES, 7);
    right.fill(BUFFER_BYTES, 8);
    byte[] before = right.bytes(BUFFER_BYTES);
    right.qp.postEmptyReceives(1, 1);
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 1, 4096, right);
    wr.remoteAddress = right.mr.address() + BUFFER_BYTES - 4095;
    wr.next = left.request(Operation.RDMA_WRITE, 2, 10, right);

    assertEquals(2, left.qp.postSend(wr));

    WorkCompletion failed = left.awaitCompletion(right);
    assertEquals(1, failed.workRequestId);
    assertEquals(Status.REMOTE_ACCESS_ERROR, failed.status);
    WorkCompletion behind = left.awaitCompletion(right);
    assertEquals(2, behind.workRequestId);
    assertEquals(Status.WORK_REQUEST_FLUSHED, behind.status);
    assertEquals(QueuePairState.ERROR, left.qp.state());
    assertArrayEquals(before, right.bytes(BUFFER_BYTES));
    assertEquals(Status.WORK_REQUEST_FLUSHED, right.awaitCompletion(left).status);
    assertEquals(QueuePairState.ERROR, right.qp.state());
  }

  @Test
  void keyOfAClosedRegionIsRefused() {
    Endpoint.connect(left, right);
    MemoryRegion gone =
        right.pd.registerMemory(right.mr.address(), BUFFER_BYTES, Endpoint.ALL_ACCESS);
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 1, 64, right);
    wr.rkey = gone.rkey();
    gone.close();
    MemoryRegion successor =
        right.pd.registerMemory(right.mr.address(), BUFFER_BYTES, Endpoint.ALL_ACCESS);
    left.qp.postSend(wr);
    assertEquals(Status.REMOTE_ACCESS_ERROR, left.awaitCompletion(right).status);
    successor.close();
  }

  @Test
  void refusingQueuePairRejectsNewRequests() {
    Endpoint.connect(left, right);
    left.fill(10_000, 1);
    assertEquals(1, left.qp.postSend(left.request(Operation.RDMA_WRITE, 1, 10_000, right)));
    assertSucceeded(left.awaitCompletion(right), 1, Kind.RDMA_WRITE);
    right.qp.refuseRequests();
    byte[] before = right.bytes(BUFFER_BYTES);
    left.fill(BUFFER_BYTES, 2);
    assertEquals(1, left.qp.postSend(left.request(Operation.RDMA_WRITE, 2, BUFFER_BYTES, right)));
    WorkCompletion refused = left.awaitCompletion(right);
    assertEquals(2, refused.workRequestId);
    assertEquals(Status.REMOTE_INVALID_REQUEST_ERROR, refused.status);
    assertArrayEquals(before, right.bytes(BUFFER_BYTES));
  }

  @Test
  void refusingQueuePairStillSends() {
    Endpoint.connect(left, right);
    right.fill(5_000, 3);
    right.qp.refuseRequests();
    assertEquals(1, right.qp.postSend(right.request(Operation.RDMA_WRITE, 1, 5_000, left)));
    assertSucceeded(right.awaitCompletion(left), 1, Kind.RDMA_WRITE);
    assertArrayEquals(right.bytes(5_000), left.bytes(5_000));
  }

  @Test
  void writeIntoReadOnlyMemoryIsRefused() {
    Endpoint.connect(left, right);
    try (MemoryRegion readable =
        right.pd.registerMemory(
            right.mr.address(),
            BUFFER_BYTES,
            java.util.Set.of(io.heddle.verbs.ProtectionDomain.Access.REMOTE_READ))) {
      SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 1, 64, right);
      wr.rkey = readable.rkey();
      left.qp.postSend(wr);
      assertEquals(Status.REMOTE_ACCESS_ERROR, left.awaitCompletion(right).status);
    }
  }

  @Test
  void localKeyThatDoesNotCoverTheBytesIsALocalError() {
    Endpoint.connect(left, right);
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 3, 64, right);
    wr.localAddress = left.mr.address() + BUFFER_BYTES - 63;
    left.qp.postSend(wr);
    WorkCompletion wc = left.awaitCompletion(right);
    assertEquals(3, wc.workRequestId);
    assertEquals(Status.LOCAL_PROTECTION_ERROR, wc.status);
    assertEquals(QueuePairState.ERROR, left.qp.state());
  }

  @Test
  void toErrorFlushesSendsAndReceivesInOrder() {
    Endpoint.connect(left, right);
    left.qp.postEmptyReceives(50, 2);
    left.qp.toError();
    assertEquals(QueuePairState.ERROR, left.qp.state());
    left.qp.postSend(left.request(Operation.RDMA_WRITE, 1, 64, right));
    boolean sendFlushed = false;
    for (int i = 0; i < 3; i++) {
      WorkCompletion wc = left.awaitCompletion(right);
      assertEquals(Status.WORK_REQUEST_FLUSHED, wc.status);
      sendFlushed |= wc.workRequestId == 1;
    }
    assertTrue(sendFlushed);
  }

  @Test
  void queuePairIsReusableAfterReset() {
    Endpoint.connect(left, right);
    left.qp.toError();
    right.qp.toError();
    left.qp.reset();
    right.qp.reset();
    assertEquals(QueuePairState.RESET, left.qp.state());
    Endpoint.connect(left, right);
    left.fill(9_000, 9);
    right.qp.postEmptyReceives(1, 1);
    left.qp.postSend(left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 4, 9_000, right));
    assertSucceeded(right.awaitCompletion(left), 1, Kind.RECEIVE_RDMA_WITH_IMMEDIATE);
    assertSucceeded(left.awaitCompletion(right), 4, Kind.RDMA_WRITE);
    assertArrayEquals(left.bytes(9_000), right.bytes(9_000));
  }

  @Test
  void immediateWaitsForAReceiveToBePosted() {
    Endpoint.connect(left, right);
    left.fill(5_000, 10);
    left.qp.postSend(left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 5_000, right));
    assertFalse(left.completesWithin(30_000_000, right), "no receive is posted yet");
    right.qp.postEmptyReceives(2, 1);
    assertSucceeded(right.awaitCompletion(left), 2, Kind.RECEIVE_RDMA_WITH_IMMEDIATE);
    assertSucceeded(left.awaitCompletion(right), 1, Kind.RDMA_WRITE);
    assertArrayEquals(left.bytes(5_000), right.bytes(5_000));
  }

  @Test
  void receiverThatIsNeverReadyEndsTheSendAfterItsRetries() {
    Endpoint.connect(left, right, leftContext.port().activeMtu(), 14, 2);
    left.qp.postSend(left.request(Operation.SEND, 1, 64, right));
    assertEquals(Status.RECEIVER_NOT_READY_RETRY_EXCEEDED, left.awaitCompletion(right).status);
    assertEquals(QueuePairState.ERROR, left.qp.state());
  }

  @Test
  void missingPeerEndsSendAfterRetries() {
    Endpoint.connect(left, right, leftContext.port().activeMtu(), 12, 7);
    right.qp.reset();
    left.qp.postSend(left.request(Operation.RDMA_WRITE, 1, 64, right));
    assertEquals(Status.RETRY_EXCEEDED, left.awaitCompletion(right).status);
    assertEquals(QueuePairState.ERROR, left.qp.state());
  }

  @Test
  void sendLargerThanTheReceiveFailsAtBothEnds() {
    Endpoint.connect(left, right);
    right.qp.postReceive(1, right.mr.address(), 100, right.mr.lkey());
    left.qp.postSend(left.request(Operation.SEND, 2, 101, right));
    /* rxe of Linux 6.1 reports a failed operation at both ends. */
    assertTrue(
        EnumSet.of(Status.LOCAL_LENGTH_ERROR, Status.LOCAL_QUEUE_PAIR_OPERATION_ERROR)
            .contains(right.awaitCompletion(left).status));
    assertTrue(
        EnumSet.of(Status.REMOTE_INVALID_REQUEST_ERROR, Status.REMOTE_OPERATION_ERROR)
            .contains(left.awaitCompletion(right).status));
  }

  @Test
  void postingInTheWrongStateIsAnErrorCode() {
    SendWorkRequest wr = left.request(Operation.RDMA_WRITE, 1, 64, right);
    assertEquals(-Errno.EINVAL, left.qp.postSend(wr));
    assertEquals(-Errno.EINVAL, left.qp.postEmptyReceives(1, 1));
    assertThrows(
        VerbsException.class,
        () -> left.qp.readyToSend(new io.heddle.verbs.ReadyToSendAttributes(0, 14, 7, 7)));
  }

  @Test
  void moreReceivesThanTheQueueHoldsAreRefusedWhole() {
    Endpoint.connect(left, right);
    assertEquals(-Errno.ENOMEM, right.qp.postEmptyReceives(1, 1 << 20));
    assertEquals(0, right.qp.postEmptyReceives(1, 64));
  }

  @Test
  void closingContextClosesChildren() {
    DeviceContext context = openLeft(ledger);
    Endpoint forgotten = new Endpoint(context, leftGidIndex(context), 4096);
    context.close();
    context.close();
    forgotten.close();
  }

  @Test
  void invalidGidIndexIsNamed() {
    VerbsException refused = assertThrows(VerbsException.class, () -> left.qp.initialise(100_000));
    assertTrue(refused.getMessage().contains("100000"), refused.getMessage());
  }

  @Test
  void badSizesAreRefusedWhenCreating() {
    assertThrows(
        VerbsException.class,
        () -> left.pd.registerMemory(left.mr.address(), 0, Endpoint.ALL_ACCESS));
    assertThrows(
        VerbsException.class,
        () ->
            left.pd.createQueuePair(
                new QueuePairAttributes(
                    left.cq, left.cq, leftContext.attributes().maxWorkRequests() + 1, 1)));
  }
}
