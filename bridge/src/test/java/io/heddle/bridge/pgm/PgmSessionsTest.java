package io.heddle.bridge.pgm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.PgmStatus;
import io.heddle.bridge.status.StatusFile;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PGM sessions, as the status file shows them. */
class PgmSessionsTest {
  private static final long SOURCE = 0xffff_0a01_0001L;
  private static final int MOST = 4;
  private static final long ID = 0x0102_0304_0506_0000L;

  @TempDir private Path folder;
  private final Arena arena = Arena.ofConfined();
  private final long packet = Memory.allocate(arena, 64, 8);
  private StatusFile status;
  private PgmSessions sessions;
  private PgmObserver observer;
  private int slot;
  private long now = 1;

  @BeforeEach
  void setUp() {
    status = StatusFile.create(folder.resolve("status"), "test", "");
    status.describeFabric(0, "a", "");
    status.describeFabric(1, "b", "");
    slot = status.open("239.1.1.1", "");
    status.setPgm(slot, true);
    sessions = new PgmSessions(arena, status.pgmSessions(), MOST);
    observer = observer(slot);
  }

  private PgmObserver observer(int of) {
    long[] counters = {status.counters(of, 0), status.counters(of, 1)};
    return new PgmObserver(sessions, of, counters);
  }

  @AfterEach
  void tearDown() {
    status.close();
    arena.close();
  }

  private void observe(int side, PgmType type, long port, int number) {
    PgmFormat.write(packet, type, ID | port, 5, number, 0);
    observer.observe(side, packet, 64, 0, SOURCE, now);
  }

  private PgmStatus read() {
    PgmStatus pgm = BridgeStatus.read(folder.resolve("status")).groups().getFirst().pgm();
    assertNotNull(pgm);
    return pgm;
  }

  private List<String> names() {
    return read().sessions().stream().map(PgmStatus.Session::session).sorted().toList();
  }

  @Test
  void sessionIsCountedByDirectionAndInTotal() {
    observe(0, PgmType.ODATA, 7, -2);
    observe(0, PgmType.ODATA, 7, 3);
    observe(0, PgmType.RDATA, 7, 0);
    observe(0, PgmType.ODATA, 7, -1);
    observe(0, PgmType.ODATA, 7, 3);
    observe(1, PgmType.ODATA, 7, 1000);
    observe(1, PgmType.ODATA, 7, 1002);
    observer.observe(1, packet, 10, 0, SOURCE, now);
    PgmStatus pgm = read();
    PgmStatus.Direction a = pgm.directions().getFirst();
    assertEquals(
        new PgmStatus.Direction(5, 0, 4, 1, 4, 1, 1, 2, 1, 0, 0, 0, 0, 0, 1, 0, 0),
        a,
        "-1, 0, 1 and 2");
    PgmStatus.Direction b = pgm.directions().getLast();
    assertEquals(new PgmStatus.Direction(2, 1, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0), b);
    assertEquals(2, pgm.sessions().size());
    PgmStatus.Session first = pgm.sessions().getFirst();
    assertEquals("010203040506.7", first.session());
    assertEquals("a", first.from());
    assertEquals("10.1.0.1", first.source());
    assertEquals(3, first.lead());
    assertEquals(2, first.lost());
    assertEquals(1, first.duplicates());
  }

  @Test
  void receiversRequestsCountForSourceInOtherFabric() {
    observe(0, PgmType.ODATA, 7, 1);
    byte[] bytes = new byte[64];
    bytes[2] = 0;
    bytes[3] = 7;
    bytes[4] = 8;
    System.arraycopy(new byte[] {1, 2, 3, 4, 5, 6}, 0, bytes, 8, 6);
    bytes[21] = 1;
    bytes[29] = 1;
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Memory.ALL, packet, bytes.length);
    observer.observe(1, packet, 64, 0, SOURCE + 1, now);
    assertEquals(1, read().directions().getLast().requests());
    assertEquals(0, read().directions().getLast().sessions(), "a receiver creates no session");
    assertEquals(1, read().sessions().getFirst().requests());
  }

  @Test
  void evictsLeastRecentlyActiveSessionAndCountsIt() {
    for (int port = 0; port < MOST; port++) {
      observe(0, PgmType.ODATA, port, 1);
    }
    observe(0, PgmType.ODATA, 0, 2);
    observe(0, PgmType.ODATA, 100, 1);
    assertEquals(
        List.of("010203040506.0", "010203040506.100", "010203040506.2", "010203040506.3"), names());
    PgmStatus.Direction sendPath = read().directions().getFirst();
    assertEquals(1, sendPath.evicted());
    assertEquals(MOST, sendPath.sessions());
    assertEquals(0, sendPath.lost());
    observe(0, PgmType.ODATA, 1, 50);
    assertEquals(0, read().directions().getFirst().lost(), "an evicted session restarts");
  }

  @Test
  void idleSessionsExpireAndAreCounted() {
    observe(0, PgmType.ODATA, 1, 1);
    now += PgmSessions.IDLE_NS / 2;
    observe(0, PgmType.ODATA, 2, 1);
    sessions.expire(now + PgmSessions.IDLE_NS / 2 - 1);
    assertEquals(2, sessions.size());
    sessions.expire(now + PgmSessions.IDLE_NS / 2);
    assertEquals(List.of("010203040506.2"), names());
    assertEquals(1, read().directions().getFirst().aged());
  }

  @Test
  void packetsForwardedByOtherBridgeAreNotLost() {
    observe(0, PgmType.ODATA, 1, 1);
    observer.pause(0);
    observe(0, PgmType.ODATA, 1, 1000);
    observe(0, PgmType.ODATA, 1, 1002);
    assertEquals(1, read().directions().getFirst().skipped());
    assertEquals(3, read().sessions().getFirst().data());
  }

  @Test
  void removedGroupRemovesItsSessions() {
    int other = status.open("239.1.1.2", "");
    status.setPgm(other, true);
    observe(0, PgmType.ODATA, 1, 1);
    observer = observer(other);
    observe(0, PgmType.ODATA, 1, 500);
    assertEquals(2, sessions.size(), "equal ids in two groups are two sessions");
    sessions.forget(slot);
    assertEquals(List.of(), names());
    assertEquals(1, sessions.size());
  }

  /* Compares evictions with a list in the order of use. */
  @Test
  void evictsManySessionsInOrderOfUse() {
    List<Long> order = new ArrayList<>();
    Random random = new Random(7);
    long evicted = 0;
    for (int i = 0; i < 2_000; i++) {
      long port = random.nextInt(3 * MOST);
      observe(0, PgmType.ODATA, port, i);
      order.remove(port);
      order.add(port);
      if (order.size() > MOST) {
        order.removeFirst();
        evicted++;
      }
    }
    assertEquals(order.stream().map(port -> "010203040506." + port).sorted().toList(), names());
    assertEquals(evicted, read().directions().getFirst().evicted());
  }
}
