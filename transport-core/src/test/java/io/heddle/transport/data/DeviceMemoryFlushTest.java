package io.heddle.transport.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.HostPlanes;
import io.heddle.addr.PlaneRules;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.spray.PlaneWeights;
import io.heddle.transport.Ends;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.MemoryTable;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.device.PlaneAddresses;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the read that flushes device memory. They use host memory, since the read works on any
 * registered memory.
 */
@EndsWithin(30)
class DeviceMemoryFlushTest {
  private static final Gid ONE = Ends.gid("127.0.78.1");
  private static final Gid TWO = Ends.gid("127.0.78.2");
  private static final Gid THREE = Ends.gid("127.0.78.3");
  private static final int DONE = 1;

  private final LeakLedger ledger = new LeakLedger();
  private final LoopbackFabric fabric = new LoopbackFabric(3);
  private final Arena arena = Arena.ofShared();
  private final RequestLines lines =
      new RequestLines(
          io.heddle.platform.Memory.allocate(arena, 16 * RequestLines.BYTES, RequestLines.BYTES),
          16,
          0);
  private NetDevice device;
  private DeviceMemoryFlush flush;
  private MemoryRegion memory;

  @BeforeEach
  void open() {
    List<LocalPlane> planes = List.of(plane("one", ONE), plane("two", TWO));
    DeviceContext context =
        new LoopbackProvider(fabric, List.of(ONE, TWO, THREE))
            .devices(Map.of(), Log.toStandardError(), ledger)
            .getFirst()
            .open();
    HostPlanes host =
        new HostPlanes(
            new HostAddresses(List.of(), List.of()), PlaneRules.NONE, AddressFilter.NONE, Map.of());
    device =
        new NetDevice(
            context,
            new PlaneAddresses(context, () -> host, -1, planes, Log.toStandardError()),
            PlaneWeights.parse("", List.of("one", "two")),
            -1,
            new MemoryTable.Rules(false, true),
            NanoClock.SYSTEM);
    memory =
        device
            .pd()
            .registerMemory(Memory.allocate(arena, 64, 64), 64, EnumSet.of(Access.REMOTE_READ));
    flush = new DeviceMemoryFlush(device, lines);
  }

  @AfterEach
  void closeAndCheckLeaks() {
    flush.close();
    device.close();
    arena.close();
    assertEquals(Map.of(), ledger.open());
  }

  private static LocalPlane plane(String key, Gid address) {
    return new LocalPlane(key, key, address, 8, PathMtu.MTU_4096, "lo");
  }

  private int flushOnce() {
    int line = lines.claim();
    assertEquals(0, flush.post(line, memory.address(), memory.rkey()));
    return line;
  }

  private boolean isDone(int line) {
    return Memory.getIntAcquire(lines.address(line)) == DONE;
  }

  private @Nullable String drive(int line) {
    String failure = null;
    Deadline deadline = Deadline.ofSeconds(10);
    while (!isDone(line) && failure == null) {
      assertFalse(deadline.isOver(), "not done within 10 s");
      device.context().progress();
      failure = flush.progress();
    }
    return failure;
  }

  @Test
  void flushIsDoneWithItsRead() {
    fabric.holdAcknowledgements(true);
    int line = flushOnce();
    device.context().progress();
    assertNull(flush.progress());
    assertTrue(!isDone(line), "the read isn't answered yet");
    fabric.holdAcknowledgements(false);
    assertNull(drive(line));
  }

  @Test
  void readMovesToTheNextPlaneAfterAFailure() {
    fabric.cut(ONE);
    int first = flushOnce();
    int second = flushOnce();
    assertNull(drive(first));
    assertNull(drive(second));
    assertNull(drive(flushOnce()));
  }

  @Test
  void failureWithoutPlanesNamesTheLastPlane() {
    fabric.cut(ONE);
    fabric.cut(TWO);
    String failure = drive(flushOnce());
    assertNotNull(failure);
    assertTrue(failure.contains("plane two") && failure.contains("RETRY_EXCEEDED"), failure);
  }

  @Test
  void returnedPlaneCarriesReadsWhenTheOtherFails() {
    for (int i = 0; i < 4; i++) {
      Gid lost = i % 2 == 0 ? ONE : TWO;
      fabric.cut(lost);
      assertNull(drive(flushOnce()));
      fabric.reconnect(lost);
      flush.renew(plane(i % 2 == 0 ? "one" : "two", lost));
    }
    assertEquals(2, ledger.open().get("LoopbackQueuePair"));
  }

  @Test
  void movedPlaneCarriesReadsAtItsNewAddress() {
    flush.renew(plane("one", THREE));
    fabric.cut(ONE);
    fabric.cut(TWO);
    assertNull(drive(flushOnce()));
    assertEquals(2, ledger.open().get("LoopbackQueuePair"));
  }

  @Test
  void repeatedMovesOfAPlaneTakeNoMoreSlots() {
    try (LoopbackQueuePairs pairs = new LoopbackQueuePairs(device, 16, "the test")) {
      for (int move = 0; move < 100; move++) {
        pairs.renew(plane("two", move % 2 == 0 ? THREE : TWO));
      }
      assertEquals(2, pairs.pairs());
    }
  }
}
