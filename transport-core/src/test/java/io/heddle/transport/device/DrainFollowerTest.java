package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.platform.NanoClock;
import io.heddle.stats.DrainOrders;
import io.heddle.transport.control.ControlLoop;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that orders are followed at once, and that polling costs nothing without new orders. */
class DrainFollowerTest {
  private static final int POLLS = 200;

  /*
   * Maximum number of bytes that all polls may allocate: enough for an iterator over the devices in
   * each poll, and too few for the lines of a file.
   */
  private static final long MOST_BYTES = POLLS * 64L;
  private static final int ROUNDS = 100;

  @TempDir Path folder;

  private final List<String> logged = new ArrayList<>();
  private ControlLoop loop;
  private DrainOrders orders;
  private DrainFollower follower;

  @BeforeEach
  void open() {
    loop = new ControlLoop(NanoClock.SYSTEM, (level, sentence) -> {});
    orders = DrainOrders.in(folder);
    follower = new DrainFollower(orders, List.of(), (level, sentence) -> logged.add(sentence));
  }

  @AfterEach
  void close() {
    loop.close();
  }

  @Test
  void newChangedAndRemovedOrdersAreFollowed() {
    follower.follow();
    assertEquals(List.of(), logged);
    orders.write(Set.of("plane:1"));
    follower.follow();
    assertTrue(logged.getLast().endsWith(": [plane:1]"), logged.toString());
    orders.write(Set.of());
    follower.follow();
    assertTrue(logged.getLast().endsWith(": none"), logged.toString());
  }

  @Test
  void twoOrdersOfOneLengthInOneClockTickAreDistinguished() throws IOException {
    /*
     * The file's time is an hour ahead, so that the file counts as recently written even if the
     * test is slow.
     */
    Instant tick = Instant.now().plusSeconds(3600);
    for (String key : List.of("plane:1", "plane:2", "plane:3")) {
      orders.write(Set.of(key));
      Files.setLastModifiedTime(orders.file(), FileTime.from(tick));
      follower.follow();
      assertTrue(logged.getLast().endsWith("[" + key + "]"), logged.toString());
    }
  }

  @Test
  void unreadableOrdersAreReportedOnceAndFollowedWhenReadable() throws IOException {
    Files.createDirectory(orders.file());
    follower.follow();
    follower.follow();
    assertEquals(1, logged.size(), logged.toString());
    Files.delete(orders.file());
    orders.write(Set.of("plane:1"));
    follower.follow();
    assertTrue(logged.getLast().endsWith(": [plane:1]"), logged.toString());
  }

  @Test
  void unchangedOrdersAreNotReadAgain() throws IOException {
    orders.write(Set.of("plane:1"));
    Files.setLastModifiedTime(orders.file(), FileTime.from(Instant.now().minusSeconds(60)));
    assertNextToNothing(leastBytesOfPolls());
  }

  @Test
  void missingOrdersThrowNoException() {
    assertNextToNothing(leastBytesOfPolls());
  }

  private static void assertNextToNothing(long bytes) {
    assertTrue(bytes <= MOST_BYTES, POLLS + " polls allocated " + bytes + " bytes");
  }

  private long leastBytesOfPolls() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > MOST_BYTES; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int poll = 0; poll < POLLS; poll++) {
        follower.follow();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }
}
