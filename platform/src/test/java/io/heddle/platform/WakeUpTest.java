package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a thread can end another thread's wait for descriptors. */
@EndsWithin(30)
class WakeUpTest {
  private static final short POLLIN = 1;
  private static final long NOT_AT_ALL_NS = 0;
  private static final long LONG_S = 1000;

  private final Arena arena = Arena.ofShared();
  private final WakeUp wakeUp = new WakeUp(arena);
  private final long pollfd = Memory.allocate(arena, 8, 8);
  private final long timespec = Memory.allocate(arena, 16, 8);

  @AfterEach
  void close() {
    arena.close();
  }

  private int await(long seconds, long nanoseconds) {
    Memory.setInt(pollfd, wakeUp.fd());
    Memory.ALL.set(Memory.NATIVE_SHORT, pollfd + 4, POLLIN);
    Memory.setLong(timespec, seconds);
    Memory.setLong(timespec + 8, nanoseconds);
    return DatagramCalls.poll(LinuxCalls.errnoCapture(), pollfd, 1, timespec);
  }

  @Test
  void noWakeUpWithoutCall() {
    assertEquals(0, await(0, NOT_AT_ALL_NS));
    wakeUp.reset();
    assertEquals(0, await(0, NOT_AT_ALL_NS));
  }

  @Test
  void repeatedWakeUpsEndOneWait() {
    for (int i = 0; i < 10; i++) {
      assertEquals(0, wakeUp.wake());
    }
    assertEquals(1, await(LONG_S, 0));
    wakeUp.reset();
    assertEquals(0, await(0, NOT_AT_ALL_NS));
  }

  @Test
  void wakeUpFromOtherThreadEndsWait() throws Exception {
    CompletableFuture<Integer> waiter = new CompletableFuture<>();
    Thread.ofPlatform().daemon().start(() -> waiter.complete(await(LONG_S, 0)));
    assertEquals(0, wakeUp.wake());
    assertEquals(1, Deadline.ofSeconds(10).get(waiter));
  }

  @Test
  void descriptorIsClosedWithArena() throws IOException {
    Path link;
    try (Arena own = Arena.ofConfined()) {
      link = Path.of("/proc/self/fd/" + new WakeUp(own).fd());
      assertEquals("anon_inode:[eventfd]", Files.readSymbolicLink(link).toString());
    }
    /* Another file may have got the closed descriptor's number meanwhile. */
    assertFalse(
        Files.isSymbolicLink(link) && Files.readSymbolicLink(link).toString().contains("eventfd"));
  }
}
