package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.stats.StatsFile.Direction;
import io.heddle.verbs.LinkCounts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatsFileTest {
  @TempDir Path folder;

  private StatsFile file;

  @BeforeEach
  void open() {
    file = new StatsFile(folder, (level, sentence) -> {});
  }

  @AfterEach
  void close() {
    file.close();
  }

  private ProcessStats read() {
    return StatsReader.snapshot(file.path());
  }

  @Test
  void containersSharingTheFolderHaveSeparateFiles() throws Exception {
    String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    String name = file.path().getFileName().toString();
    assertTrue(name.startsWith(ProcessHandle.current().pid() + "."), name);
    assertTrue(namespace.equals("pid:[" + name.split("\\.")[1] + "]"), name + " in " + namespace);
  }

  @Test
  void visibleFileIsComplete() throws Exception {
    long pid = ProcessHandle.current().pid();
    Path made = folder.resolve("sub").resolve(file.path().getFileName());
    AtomicBoolean over = new AtomicBoolean();
    Callable<Integer> readings =
        () -> {
          int seen = 0;
          while (!over.get()) {
            if (Files.exists(made)) {
              assertEquals(pid, StatsReader.snapshot(made).processId());
              seen++;
            }
          }
          return seen;
        };
    try (ExecutorService reader = Executors.newSingleThreadExecutor()) {
      Future<Integer> seen = reader.submit(readings);
      for (int i = 0; i < 300 && !seen.isDone(); i++) {
        new StatsFile(made.getParent(), (level, sentence) -> {}).close();
      }
      over.set(true);
      assertTrue(seen.get() > 0);
    }
    assertFalse(Files.exists(Path.of(made + ".new")));
  }

  @Test
  void aReaderSeesWhatACommunicatorCounted() {
    PlaneCounters counters = file.open(Direction.SEND, "plane:a", 4, "host pid 7");
    counters.setWeight(3, "routes");
    counters.chunk(1000);
    counters.chunk(500);
    counters.chunk(250);
    counters.acknowledged(1000, 5_000);
    counters.countMoved(250);
    counters.failover();
    counters.resent(9);
    ProcessStats stats = read();
    assertEquals(ProcessHandle.current().pid(), stats.processId());
    ProcessStats.Row row = stats.rows().getFirst();
    assertTrue(row.open());
    assertEquals(1750, row.bytes());
    assertEquals(1000, row.acknowledgedBytes());
    assertEquals(500, row.inFlightBytes());
    assertEquals(1, row.movedChunks());
    assertEquals(1, row.failovers());
    assertEquals(9, row.resentPackets());
    assertEquals(3, row.weight());
    assertEquals("routes", row.weightSource());
    assertEquals(1, row.latencies().total());
    long p50 = row.latencies().percentileNs(0.5);
    assertTrue(p50 > 5_000 && p50 < 5_700, "p50 " + p50);
    long age = System.currentTimeMillis() - row.weightSinceMs();
    assertTrue(age >= 0 && age < 60_000, "weight since " + age + " ms");
  }

  @Test
  void repeatedWeightKeepsItsAge() throws Exception {
    PlaneCounters counters = file.open(Direction.SEND, "plane:a", 4, "host pid 7");
    counters.setWeight(4, "equal");
    long since = read().rows().getFirst().weightSinceMs();
    Thread.sleep(5);
    counters.setWeight(4, "routes");
    assertEquals(since, read().rows().getFirst().weightSinceMs());
    assertEquals("routes", read().rows().getFirst().weightSource());
    counters.setWeight(5, "routes");
    assertTrue(read().rows().getFirst().weightSinceMs() > since);
  }

  @Test
  void greaterDistancesThanTheFileHasAreInTheLastBucket() {
    PlaneCounters counters = file.open(Direction.RECEIVE, "plane:a", 1, "host pid 7");
    long[] ahead = new long[StatsLayout.REORDERINGS + 2];
    Arrays.setAll(ahead, i -> i + 1);
    counters.addLinkCounts(new LinkCounts(0, 0, 0, 0, ahead, 0, false), false);
    long[] counts = read().rows().getFirst().reordering();
    long[] expected = Arrays.copyOf(ahead, StatsLayout.REORDERINGS);
    expected[StatsLayout.REORDERINGS - 1] += ahead[ahead.length - 2] + ahead[ahead.length - 1];
    assertArrayEquals(expected, counts);
  }

  @Test
  void reorderingDistanceIsCountedByPowersOfTwo() {
    PlaneCounters counters = file.open(Direction.RECEIVE, "plane:a", 1, "host pid 7");
    for (int ahead : new int[] {0, 0, 1, 2, 3, 4, 31, 32, 63}) {
      counters.reordered(ahead);
    }
    long[] counts = read().rows().getFirst().reordering();
    assertEquals(
        List.of(2L, 1L, 2L, 1L, 0L, 1L, 2L, 0L, 0L, 0L, 0L, 0L),
        java.util.Arrays.stream(counts).boxed().toList());
  }

  @Test
  void closedCommunicatorsAddToTheSumOfTheirPlane() {
    for (int i = 0; i < 3; i++) {
      PlaneCounters counters = file.open(Direction.SEND, "plane:a", 1, "host pid " + i);
      counters.chunk(100);
      counters.acknowledged(100, 2_000_000);
      counters.resent(1);
      file.close(counters);
    }
    List<ProcessStats.Row> rows = read().rows();
    assertEquals(1, rows.size());
    assertEquals(300, rows.getFirst().acknowledgedBytes());
    assertEquals(3, rows.getFirst().latencies().total());
    assertEquals(3, rows.getFirst().resentPackets());
    assertEquals(0, rows.getFirst().inFlightBytes());
  }

  @Test
  void communicatorsWithoutRoomShareTheSum() {
    for (int i = 0; i <= StatsLayout.RECORDS; i++) {
      file.open(Direction.SEND, "plane:a", 1, "peer").chunk(1);
    }
    List<ProcessStats.Row> rows = read().rows();
    assertEquals(StatsLayout.RECORDS - StatsLayout.SUMS + 1, rows.size());
    assertEquals(StatsLayout.RECORDS + 1, rows.stream().mapToLong(ProcessStats.Row::bytes).sum());
  }

  @Test
  void planesWithoutASumShareTheLastOne() {
    for (int i = 0; i < StatsLayout.RECORDS - StatsLayout.SUMS; i++) {
      file.open(Direction.SEND, "plane:a", 1, "peer");
    }
    for (int i = 0; i < StatsLayout.SUMS + 3; i++) {
      file.open(Direction.SEND, "plane:" + i, 1, "peer").chunk(1);
    }
    List<ProcessStats.Row> rows = read().rows();
    assertEquals(StatsLayout.RECORDS, rows.size());
    assertEquals(4, rows.getLast().bytes());
  }

  @Test
  void fileTakesMemoryOnlyForUsedParts() throws Exception {
    file.open(Direction.SEND, "plane:a", 1, "peer").chunk(1);
    read();
    Object blocks = Files.getAttribute(file.path(), "unix:size");
    assertEquals(StatsLayout.FILE_BYTES, blocks);
    Process du = new ProcessBuilder("du", "-k", file.path().toString()).start();
    String kibibytes = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int used = Integer.parseInt(kibibytes.split("\t")[0]);
    assertTrue(used <= 128, kibibytes);
  }

  @Test
  void deviceCountersAreKnownByTheirNames() {
    file.setDeviceCounter("soft0/packets_sent", 5);
    file.setDeviceCounter("soft0/timeouts", 1);
    file.setDeviceCounter("soft0/packets_sent", 8);
    assertEquals(Map.of("soft0/packets_sent", 8L, "soft0/timeouts", 1L), read().deviceCounters());
  }

  @Test
  void fileOfAnotherVersionIsRefusedWithItsName() throws Exception {
    Path other = Files.write(folder.resolve("1.stats"), new byte[2_097_408]);
    HeddleException refused =
        assertThrows(HeddleException.class, () -> StatsReader.snapshot(other));
    assertTrue(refused.getMessage().contains(other.toString()), refused.getMessage());
  }
}
