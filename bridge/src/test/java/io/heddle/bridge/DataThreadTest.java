package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.multicast.StormGuard;
import io.heddle.bridge.redundancy.HangDetector;
import io.heddle.bridge.table.AddressTable;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Behaviour of the data thread when its rounds fail. */
@EndsWithin(60)
class DataThreadTest {
  private static final int FOR_EVER = Integer.MAX_VALUE;

  private final Arena arena = Arena.ofShared();
  private final CountDownLatch lost = new CountDownLatch(1);
  private final StubFabric other = new StubFabric();

  @AfterEach
  void free() {
    arena.close();
  }

  private DataThread threadOf(StubFabric fabric) {
    StormGuard[] guards = {new StormGuard(arena), new StormGuard(arena)};
    FabricOutlet exit = new FabricOutlet(new PacketPort[] {fabric, other}, guards);
    long now = System.nanoTime();
    Limiter limiter = new Limiter(arena, 1 << 20, 1500, exit, now);
    Forwarder[] forwarders = {
      new Forwarder(0, fabric, other, 0, guards[0], limiter, null),
      new Forwarder(1, other, fabric, 0, guards[1], limiter, null)
    };
    int[] descriptors = {fabric.descriptor(), other.descriptor()};
    return new DataThread(
        arena,
        forwarders,
        limiter,
        exit,
        descriptors,
        tables(),
        BridgeConfig.NO_CORE,
        (level, sentence) -> {},
        lost::countDown);
  }

  private static BridgeTables tables() {
    LoopRules none = new LoopRules(List.of(), List.of(), List.of());
    return new BridgeTables(
        new AddressTable<>(Map.of()),
        List.of(none, none),
        List.of(RateLimit.NONE, RateLimit.NONE),
        ProxyAddresses.NONE,
        null,
        List.of(),
        new CountDownLatch(1));
  }

  private static void awaitPolls(StubFabric fabric, int polls) {
    Deadline deadline = Deadline.ofSeconds(30);
    while (fabric.polls.get() < polls) {
      assertFalse(deadline.isOver(), () -> fabric.polls + " polls within " + deadline);
      LockSupport.parkNanos(100_000);
    }
  }

  @Test
  void endsOnRequestEvenIfEveryRoundFails() {
    StubFabric fabric = new StubFabric().failing(FOR_EVER);
    DataThread data = threadOf(fabric);
    data.start();
    awaitPolls(fabric, 2);
    data.end();
  }

  @Test
  void reportsThatEveryRoundFails() throws InterruptedException {
    DataThread data = threadOf(new StubFabric().failing(FOR_EVER));
    data.start();
    lost.await();
    data.end();
  }

  @Test
  void detectsHungThreadButNotSleepingOne() {
    StubFabric fabric = new StubFabric();
    DataThread data = threadOf(fabric);
    data.start();
    awaitPolls(fabric, 2);
    HangDetector watch = new HangDetector(data::beats, 50, DataThread.SLEEP_NS);
    for (int i = 0; i < 60; i++) {
      assertFalse(watch.isHung(System.nanoTime()), "it sleeps");
      LockSupport.parkNanos(DataThread.SLEEP_NS);
    }
    CountDownLatch end = new CountDownLatch(1);
    fabric.hangs = end;
    Deadline deadline = Deadline.ofSeconds(30);
    while (!watch.isHung(System.nanoTime())) {
      assertFalse(deadline.isOver(), () -> "not within " + deadline);
      LockSupport.parkNanos(DataThread.SLEEP_NS);
    }
    end.countDown();
    awaitPolls(fabric, fabric.polls.get() + 2);
    assertEquals(1, lost.getCount(), "it never failed");
    data.end();
  }

  @Test
  void awaitUseReturnsWhenThreadEnds() {
    StubFabric fabric = new StubFabric().failing(FOR_EVER);
    DataThread data = threadOf(fabric);
    data.start();
    awaitPolls(fabric, 2);
    data.end();
    data.setTables(tables());
    data.awaitTablesInUse();
  }

  @Test
  void confirmsUseOfNewTables() {
    DataThread data = threadOf(new StubFabric().failing(1));
    data.start();
    BridgeTables others = tables();
    data.setTables(others);
    data.awaitTablesInUse();
    assertEquals(0, others.inUse().getCount());
    data.end();
  }

  @Test
  void failedRoundDropsItsQueuedPackets() {
    StubFabric fabric = new StubFabric().failing(1);
    DataThread data = threadOf(fabric);
    data.start();
    awaitPolls(fabric, 3);
    assertEquals(1, fabric.discards.get());
    assertEquals(1, other.discards.get());
    data.end();
    assertTrue(fabric.polls.get() >= 3);
  }
}
