package io.heddle.bridge.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.StatusFile;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packets above their rate limit, in virtual time. */
class LimiterTest {
  private static final int PACKET_BYTES = 400;
  private static final long MS = 1_000_000;

  @TempDir private Path folder;
  private final Arena arena = Arena.ofConfined();
  private final List<Long> departed = new ArrayList<>();
  private final List<Long> departedNs = new ArrayList<>();
  private long packet;
  private StatusFile status;
  private long nowNs = 7_000_000_000_000L;

  @BeforeEach
  void setUp() {
    packet = Memory.allocate(arena, PACKET_BYTES, 8);
    status = StatusFile.create(folder.resolve("status"), "b", "c");
  }

  @AfterEach
  void tearDown() {
    status.close();
    arena.close();
  }

  private Limiter limiter(long poolBytes) {
    return new Limiter(
        arena,
        poolBytes,
        PACKET_BYTES,
        (flow, at, length, crc, digest, arrived, now) -> {
          assertEquals(PACKET_BYTES, length);
          assertEquals((int) Memory.getLong(at), crc);
          assertEquals(Memory.getLong(at), digest);
          departed.add(digest);
          departedNs.add(now);
        },
        nowNs);
  }

  private LimitedFlow flow(RateLimit limit) {
    int slot = status.open("239.1.1.1", "");
    return new LimitedFlow(1, null, limit, status.counters(slot, 0), nowNs);
  }

  private void offer(Limiter limiter, LimitedFlow flow, long number) {
    Memory.setLong(packet, number);
    limiter.offer(flow, packet, PACKET_BYTES, (int) number, number, nowNs, nowNs);
  }

  /* Drains the limiter like the data thread: lets the returned time pass, then advances. */
  private void drain(Limiter limiter) {
    while (limiter.waitNs(nowNs) >= 0) {
      nowNs += limiter.waitNs(nowNs);
      limiter.advance(nowNs);
      limiter.flushed();
    }
  }

  private BridgeStatus.Direction counted(int group) {
    return BridgeStatus.read(folder.resolve("status")).groups().get(group).directions().getFirst();
  }

  @Test
  void burstLeavesAtOnceAndTheRestAtTheRate() {
    Limiter limiter = limiter(1 << 20);
    LimitedFlow flow = flow(new RateLimit(1000, 10, 100, true));
    long start = nowNs;
    for (int i = 0; i < 50; i++) {
      offer(limiter, flow, i);
    }
    assertEquals(10, departed.size());
    assertEquals(40, counted(0).pending());
    drain(limiter);
    assertEquals(50, departed.size());
    for (int i = 0; i < 50; i++) {
      assertEquals(i, departed.get(i), "in order");
      if (i >= 10) {
        long wanted = start + (i - 9) * MS;
        assertTrue(departedNs.get(i) >= wanted, i + " left too early");
        assertTrue(departedNs.get(i) <= wanted + 2 * TimerWheel.TICK_NS, i + " left too late");
      }
    }
    assertEquals(0, counted(0).pending());
    assertEquals(40, counted(0).delayed());
    assertEquals(40_000, counted(0).longestWaitUs(), 50);
    assertEquals(0, limiter.cellsInUse());
  }

  @Test
  void rateHoldsForSlowAndFastGroups() {
    for (long rate : new long[] {3, 777, 1_000_000, 7_777_777}) {
      departed.clear();
      departedNs.clear();
      Limiter limiter = limiter(1 << 20);
      LimitedFlow flow = flow(new RateLimit(rate, 1, 2000, true));
      int packets = 1000;
      for (int i = 0; i < packets; i++) {
        offer(limiter, flow, i);
      }
      long start = nowNs;
      drain(limiter);
      assertEquals(packets, departed.size());
      double seconds = (nowNs - start) / 1e9;
      double expected = (packets - 1) / (double) rate;
      assertEquals(expected, seconds, expected / 1000 + 2e-9 * 2 * TimerWheel.TICK_NS, "" + rate);
    }
  }

  @Test
  void pauseEarnsOnlyOneBurst() {
    Limiter limiter = limiter(1 << 20);
    LimitedFlow flow = flow(new RateLimit(1000, 5, 100, true));
    for (int i = 0; i < 5; i++) {
      offer(limiter, flow, i);
    }
    nowNs += 3600_000 * MS;
    limiter.advance(nowNs);
    for (int i = 0; i < 20; i++) {
      offer(limiter, flow, i);
    }
    assertEquals(10, departed.size());
  }

  @Test
  void fullQueueDropsOldestOrNewPacketByPolicy() {
    Limiter limiter = limiter(1 << 20);
    LimitedFlow oldest = flow(new RateLimit(1000, 1, 10, true));
    LimitedFlow tail = flow(new RateLimit(1000, 1, 10, false));
    for (int i = 0; i < 100; i++) {
      offer(limiter, oldest, i);
    }
    drain(limiter);
    assertEquals(List.of(0L, 90L, 91L, 92L, 93L, 94L, 95L, 96L, 97L, 98L, 99L), departed);
    assertEquals(Map.of("queue-full", 89L), counted(0).drops());
    departed.clear();
    for (int i = 0; i < 100; i++) {
      offer(limiter, tail, i);
    }
    drain(limiter);
    assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L), departed);
    assertEquals(Map.of("queue-full", 89L), counted(1).drops());
    assertEquals(0, limiter.cellsInUse());
  }

  @Test
  void poolBoundsMemoryOfAllQueuesAndCountsDrops() {
    Limiter limiter = limiter(20 * 512);
    LimitedFlow flow = flow(new RateLimit(1000, 1, 100_000, true));
    LimitedFlow free = flow(RateLimit.NONE);
    for (int i = 0; i < 1000; i++) {
      offer(limiter, flow, i);
      offer(limiter, free, i);
    }
    assertEquals(limiter.cells(), limiter.cellsInUse());
    assertEquals(Map.of("pool-full", 999L - limiter.cells()), counted(0).drops());
    assertEquals(Map.of(), counted(1).drops());
    assertEquals(1001, departed.size(), "the other group is unaffected");
    drain(limiter);
    assertEquals(0, limiter.cellsInUse());
  }

  @Test
  void groupsShareLimitOfLink() {
    Limiter limiter = limiter(1 << 20);
    limiter.setLink(1, new RateLimit(1000, 1, 500, true), nowNs);
    LimitedFlow first = flow(RateLimit.NONE);
    LimitedFlow second = flow(RateLimit.NONE);
    long start = nowNs;
    for (int i = 0; i < 100; i++) {
      offer(limiter, first, i);
      offer(limiter, second, 1000 + i);
    }
    drain(limiter);
    assertEquals(200, departed.size());
    assertEquals(0.199, (nowNs - start) / 1e9, 0.001);
    for (int i = 0; i < 100; i += 10) {
      long ofFirst = departed.subList(0, 2 * (i + 10)).stream().filter(each -> each < 1000).count();
      assertTrue(ofFirst >= i && ofFirst <= i + 20, "both are served: " + departed);
    }
  }

  @Test
  void queuedPacketsMoveToNewLimitOrAreCountedOnRemoval() {
    Limiter limiter = limiter(1 << 20);
    LimitedFlow before = flow(new RateLimit(1, 1, 100, true));
    LimitedFlow gone = flow(new RateLimit(1, 1, 100, true));
    LimitedFlow after =
        new LimitedFlow(1, null, new RateLimit(1_000_000, 1, 100, true), before.counters(), nowNs);
    for (int i = 0; i < 20; i++) {
      offer(limiter, before, i);
      offer(limiter, gone, i);
    }
    limiter.retire(before, after, nowNs);
    limiter.retire(gone, null, nowNs);
    assertEquals(19, counted(0).pending());
    assertEquals(Map.of("group-removed", 19L), counted(1).drops());
    drain(limiter);
    assertEquals(21, departed.size());
    assertEquals(0, counted(0).pending());
    assertEquals(0, limiter.cellsInUse());
  }

  @Test
  void everyOfferedPacketDepartsOrIsCounted() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("LimiterTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    Limiter limiter = limiter(300 * 512);
    List<LimitedFlow> flows = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      long rate = i % 4 == 0 ? 0 : 1 + (long) Math.pow(10, random.nextDouble() * 6);
      flows.add(flow(new RateLimit(rate, 1 + random.nextInt(20), random.nextInt(60), i % 3 != 0)));
    }
    int offered = 50_000;
    for (int i = 0; i < offered; i++) {
      offer(limiter, flows.get(random.nextInt(flows.size())), i);
      nowNs += random.nextInt(20_000);
      if (random.nextInt(5) == 0) {
        limiter.advance(nowNs);
        limiter.flushed();
      }
    }
    long waiting = flows.stream().mapToLong(each -> each.waiting).sum();
    assertEquals(waiting, limiter.cellsInUse());
    long dropped =
        BridgeStatus.read(folder.resolve("status")).groups().stream()
            .mapToLong(each -> each.directions().getFirst().dropped())
            .sum();
    assertEquals(offered, departed.size() + waiting + dropped);
    drain(limiter);
    assertEquals(offered, departed.size() + dropped);
    assertEquals(0, limiter.cellsInUse());
  }
}
