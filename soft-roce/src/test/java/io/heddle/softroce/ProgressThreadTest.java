package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.NanoClock;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An engine without queue pairs, of which something is due: its timer. */
class ProgressThreadTest {
  private static final String NAME = "sleeper-of-test";
  private static final int LONG_CALL_MS = 60;
  private static final long PATIENCE_NS = 10_000_000_000L;

  private final List<String> lines = new ArrayList<>();
  private final AtomicInteger triesOfSleeper = new AtomicInteger();

  /* Whoever wants to make progress asks for the time first. */
  private long countedNow() {
    if (Thread.currentThread().getName().equals(NAME)) {
      triesOfSleeper.incrementAndGet();
    }
    return NanoClock.SYSTEM.nanoTime();
  }

  @Test
  void aCallerWhoIsAtItForLongIsLeftAloneAndWhatIsDueIsDoneAfterwards() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      Engine engine =
          new Engine(arena, (level, line) -> lines.add(line), this::countedNow, 1, PacketGate.OPEN);
      engine.lock.lock();
      engine.timerAt(NanoClock.SYSTEM.nanoTime());
      engine.unlock();
      engine.lock.lock();
      ProgressThread sleeper = new ProgressThread(engine, (level, line) -> lines.add(line), NAME);
      sleeper.start();
      try {
        Thread.sleep(LONG_CALL_MS);
        assertEquals(0, triesOfSleeper.get(), "looks of the progress thread meanwhile");
        engine.lock.unlock();
        long start = System.nanoTime();
        while (engine.publishedDue() != Requester.NEVER_NS
            && System.nanoTime() - start < PATIENCE_NS) {
          Thread.sleep(1);
        }
        assertEquals(Requester.NEVER_NS, engine.publishedDue(), "what is due");
      } finally {
        sleeper.stop();
      }
    }
    assertEquals(List.of(), lines);
  }
}
