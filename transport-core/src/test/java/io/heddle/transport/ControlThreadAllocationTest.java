package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.device.RouteFollower;
import io.heddle.verbs.testing.LoopbackFabric;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that idle control threads allocate next to nothing: each collection of garbage delays a
 * running job.
 */
class ControlThreadAllocationTest {
  /*
   * Allowance for timers and for polls of the device's events: some 200 bytes a poll, ten polls a
   * second.
   */
  private static final long MOST_BYTES_PER_SECOND = 6_000;
  private static final long WINDOW_NS = 1_000_000_000;
  private static final long LIMIT_SECONDS = 20;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void idleConnectionAllocatesNextToNothing(boolean soft) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Integer> planes = List.of(1, 2, 3, 4);
    List<Long> before = threads("heddle-control");
    try (Ends ends =
            new Ends(soft ? null : new LoopbackFabric(7), folder, planes, planes, Map.of());
        Ends.Link link = ends.connect()) {
      List<Long> ours =
          threads("heddle-control").stream().filter(id -> !before.contains(id)).toList();
      assertEquals(2, ours.size(), "one of each end");
      for (long id : ours) {
        long least = Long.MAX_VALUE;
        Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
        while (least > MOST_BYTES_PER_SECOND && !deadline.isOver()) {
          least = Math.min(least, bytesPerSecond(threads, id));
        }
        assertTrue(
            least <= MOST_BYTES_PER_SECOND,
            "heddle-control allocates " + least + " bytes a second");
      }
      assertEquals(0, link.sender().progress());
    }
  }

  @Test
  void pollingForAMissingRoutesFileAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Long> before = threads("heddle-routes");
    try (RouteFollower follower =
        new RouteFollower(folder.resolve("none"), 0, NanoClock.SYSTEM, Log.toStandardError())) {
      follower.start(List.of());
      long id =
          threads("heddle-routes").stream()
              .filter(each -> !before.contains(each))
              .findFirst()
              .orElseThrow();
      long least = Long.MAX_VALUE;
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (least > 0 && !deadline.isOver()) {
        least = Math.min(least, bytesPerSecond(threads, id));
      }
      assertEquals(0, least, "bytes a second that heddle-routes allocates");
    }
  }

  private static long bytesPerSecond(ThreadMXBean threads, long id) {
    long from = threads.getThreadAllocatedBytes(id);
    long start = System.nanoTime();
    while (System.nanoTime() - start < WINDOW_NS) {
      LockSupport.parkNanos(WINDOW_NS / 10);
    }
    long bytes = threads.getThreadAllocatedBytes(id) - from;
    return bytes * WINDOW_NS / (System.nanoTime() - start);
  }

  private static List<Long> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .map(Thread::threadId)
        .toList();
  }
}
