package io.heddle.qppool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.qppool.PlaneQueuePair.QueueDepths;
import io.heddle.qppool.PlaneQueuePair.RemoteEnd;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PlaneQueuePairTest {
  private static final QueueDepths DEPTHS = new QueueDepths(16, 32, 0);
  private static final Gid LEFT_ONE = new Gid(0xfd00L << 48 | 1, 10);
  private static final Gid LEFT_TWO = new Gid(0xfd00L << 48 | 2, 10);
  private static final Gid RIGHT_TWO = new Gid(0xfd00L << 48 | 2, 20);

  private final LeakLedger ledger = new LeakLedger();
  private final LoopbackFabric fabric = new LoopbackFabric(3);
  private final DeviceContext left = open(LEFT_ONE, LEFT_TWO);
  private final DeviceContext right = open(RIGHT_TWO);
  private final ProtectionDomain leftPd = left.allocateProtectionDomain();
  private final ProtectionDomain rightPd = right.allocateProtectionDomain();
  private final CompletionQueue leftCq = left.createCompletionQueue(64);
  private final CompletionQueue rightCq = right.createCompletionQueue(64);

  private DeviceContext open(Gid... gids) {
    return new LoopbackProvider(fabric, List.of(gids))
        .devices(Map.of(), Log.toStandardError(), ledger)
        .getFirst()
        .open();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    left.close();
    right.close();
    assertEquals(Map.of(), ledger.open());
  }

  @Test
  void aPairOnTheSecondAddressCarriesDataOnceBothEndsAreConnected() {
    try (PlaneQueuePair a = PlaneQueuePair.create("plane:2", LEFT_TWO, leftPd, leftCq, DEPTHS);
        PlaneQueuePair b = PlaneQueuePair.create("plane:2", RIGHT_TWO, rightPd, rightCq, DEPTHS);
        Arena arena = Arena.ofConfined()) {
      assertEquals(QueuePairState.INIT, a.queuePair().state());
      a.connect(end(b), PathMtu.MTU_1024, LinkSettings.DEFAULT, 5);
      b.connect(end(a), PathMtu.MTU_1024, LinkSettings.DEFAULT, 6);
      assertEquals(QueuePairState.READY_TO_SEND, a.queuePair().state());
      long memory = Memory.allocate(arena, 128, 64);
      Memory.ALL.set(Memory.NATIVE_LONG, memory, 0x1122_3344_5566_7788L);
      Set<Access> access = EnumSet.allOf(Access.class);
      MemoryRegion from = leftPd.registerMemory(memory, 64, access);
      MemoryRegion to = rightPd.registerMemory(memory + 64, 64, access);
      SendWorkRequest wr = new SendWorkRequest();
      wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
      wr.localAddress = memory;
      wr.lengthBytes = 64;
      wr.lkey = from.lkey();
      wr.remoteAddress = memory + 64;
      wr.rkey = to.rkey();
      wr.immediate = 99;
      assertEquals(1, a.queuePair().postSend(wr));
      WorkCompletion received = next(rightCq);
      assertEquals(6, received.workRequestId, "receives carry the id given to connect");
      assertEquals(99, received.immediate);
      assertEquals(0x1122_3344_5566_7788L, (long) Memory.ALL.get(Memory.NATIVE_LONG, memory + 64));
    }
  }

  private static RemoteEnd end(PlaneQueuePair pair) {
    return new RemoteEnd(
        pair.localGid(),
        pair.queuePair().number(),
        pair.startPsn(),
        pair.queuePair().endpointParameters());
  }

  private WorkCompletion next(CompletionQueue cq) {
    WorkCompletion[] one = WorkCompletion.batch(1);
    for (int i = 0; i < 10_000; i++) {
      left.progress();
      if (cq.poll(one) == 1) {
        return one[0];
      }
    }
    throw new AssertionError("nothing completed");
  }

  @Test
  void everyReceiveIsPostedBeforeThePeerCanSend() {
    try (PlaneQueuePair a = PlaneQueuePair.create("plane:2", LEFT_TWO, leftPd, leftCq, DEPTHS)) {
      a.connect(
          new RemoteEnd(RIGHT_TWO, 1, 1, new byte[0]), PathMtu.MTU_1024, LinkSettings.DEFAULT, 1);
      assertTrue(a.queuePair().postEmptyReceives(1, 1) < 0, "the queue is full already");
    }
  }

  @Test
  void addressMissingOnTheDeviceIsReportedWithItsPlane() {
    VerbsException refused =
        assertThrows(
            VerbsException.class,
            () -> PlaneQueuePair.create("plane:9", RIGHT_TWO, leftPd, leftCq, DEPTHS));
    assertTrue(refused.getMessage().contains("plane:9"), refused.getMessage());
    assertTrue(refused.getMessage().contains(RIGHT_TWO.toString()), refused.getMessage());
  }

  @Test
  void sequenceNumbersStartAnywhereInTwentyFourBits() {
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < 32; i++) {
      try (PlaneQueuePair pair =
          PlaneQueuePair.create("plane:2", LEFT_TWO, leftPd, leftCq, DEPTHS)) {
        assertEquals(0, pair.startPsn() >>> 24);
        seen.add(pair.startPsn());
      }
    }
    assertTrue(seen.size() > 28, "different numbers: " + seen.size());
  }

  @Test
  void textHasPlaneBothAddressesAndBothNumbers() {
    try (PlaneQueuePair pair = PlaneQueuePair.create("plane:2", LEFT_TWO, leftPd, leftCq, DEPTHS)) {
      assertTrue(pair.toString().contains("to none"), pair.toString());
      pair.connect(
          new RemoteEnd(RIGHT_TWO, 0xabc, 1, new byte[0]),
          PathMtu.MTU_4096,
          LinkSettings.DEFAULT,
          1);
      for (String part : List.of("plane:2", LEFT_TWO.toString(), RIGHT_TWO.toString(), "0xabc")) {
        assertTrue(pair.toString().contains(part), pair.toString());
      }
    }
  }
}
