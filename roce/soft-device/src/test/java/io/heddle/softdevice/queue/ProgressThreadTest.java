package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.roce.transport.Pause;
import io.heddle.softdevice.io.HeldPacket;
import io.heddle.softdevice.io.PacketGate;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests when the progress thread leaves an engine to its callers, without queue pairs. */
class ProgressThreadTest {
  private static final long LONG_NS = 1_000_000;
  private static final long LIMIT_S = 10;

  private final Arena arena = Arena.ofShared();
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private long nowNs = 1;

  @AfterEach
  void assertNoWarnings() {
    arena.close();
    assertEquals(List.of(), lines);
  }

  private Engine engine(NanoClock clock, PacketGate gate) {
    return new Engine(arena, (level, line) -> lines.add(line), clock, 1, gate);
  }

  @Test
  void callerCountsAsPresentWhileHoldingLock() {
    Engine engine = engine(() -> nowNs, new Rounds(() -> 0));
    engine.lock.lock();
    nowNs += LONG_NS;
    assertTrue(engine.hasRecentCallers());
    engine.lock.unlock();
    assertFalse(engine.hasRecentCallers());
  }

  @Test
  void longRoundCountsFromItsEnd() {
    Rounds slow =
        new Rounds(() -> {
          boolean first = nowNs < LONG_NS;
          nowNs += first ? LONG_NS : 0;
          return first ? 1 : 0;
        });
    Engine engine = engine(() -> nowNs, slow);
    engine.progress();
    assertTrue(engine.hasRecentCallers());
    nowNs += LONG_NS;
    assertFalse(engine.hasRecentCallers());
  }

  @Test
  void deadlineDuringHeldLockIsServedOnRelease() throws Exception {
    CountDownLatch round = new CountDownLatch(1);
    Rounds seen =
        new Rounds(() -> {
          round.countDown();
          return 0;
        });
    Engine engine = engine(NanoClock.SYSTEM, seen);
    engine.lock.lock();
    engine.timerAt(NanoClock.SYSTEM.nanoTime());
    engine.unlock();
    engine.lock.lock();
    ProgressThread sleeper =
        new ProgressThread(engine, arena, (level, line) -> lines.add(line), "sleeper-of-test");
    sleeper.start();
    try {
      engine.lock.unlock();
      assertTrue(round.await(LIMIT_S, TimeUnit.SECONDS), "a round of the progress thread");
    } finally {
      sleeper.stop();
    }
    assertEquals(Pause.NEVER_NS, engine.publishedDue());
  }

  /**
   * Gate that passes all packets, runs a task in every round, and releases an empty packet if the
   * task says so.
   */
  private record Rounds(IntSupplier work) implements PacketGate {
    private static final HeldPacket EMPTY = new HeldPacket(ByteBuffer.allocate(0), 0);

    @Override
    public @Nullable HeldPacket takeDue(long nowNs) {
      return work.getAsInt() > 0 ? EMPTY : null;
    }
  }
}
