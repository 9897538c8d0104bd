package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.stats.StatsFile.Direction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a process keeps its counters in memory if shared memory refuses a file, and logs one
 * line with the missing resource, the reason and the remedy.
 */
class StatsWithoutRoomTest {
  @TempDir Path folder;

  private final List<String> logged = new ArrayList<>();
  private boolean mounted;

  @AfterEach
  void unmount() throws Exception {
    if (mounted) {
      OtherUser.unmount(folder);
    }
  }

  private void mount(String options) throws Exception {
    OtherUser.mount(folder, options);
    mounted = true;
  }

  private StatsFile open() {
    return new StatsFile(null, folder, (level, sentence) -> logged.add(sentence));
  }

  /*
   * Uses the counters of this many communicators, of a device and of all errors, which need further
   * blocks of the file.
   */
  private static void count(StatsFile stats, int communicators) {
    for (int i = 0; i < communicators; i++) {
      PlaneCounters counters = stats.open(Direction.SEND, "plane:" + i, 1, "peer");
      counters.chunk(1);
      counters.acknowledged(1, 1000);
    }
    stats.setDeviceCounter("soft0/packets_sent", 1);
    for (int i = 0; i < StatsLayout.ERRORS; i++) {
      stats.setError(i, "sentence", 1, 1, 1);
    }
  }

  private void assertWarnedOnce(String... parts) {
    assertEquals(1, logged.size(), logged.toString());
    for (String part : parts) {
      assertTrue(logged.getFirst().contains(part), logged.toString());
    }
  }

  private static List<Path> filesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void fullFileSystemCostsOnlyTheStatistics() throws Exception {
    mount("size=64k");
    Files.write(folder.resolve("other"), new byte[60 << 10]);
    try (StatsFile stats = open()) {
      count(stats, 2000);
      assertNull(stats.path());
      assertNotNull(stats.orders());
      assertWarnedOnce("No space left", "without statistics", "HEDDLE_STATS_DIR");
      assertEquals(List.of(folder.resolve("other")), filesIn(folder));
    }
  }

  @Test
  void fileSystemThatFillsLaterCostsOnlyLaterCommunicators() throws Exception {
    mount("size=256k");
    try (StatsFile stats = open()) {
      Path file = stats.path();
      assertNotNull(file);
      count(stats, 2000);
      assertWarnedOnce("No space left", "further communicators", "HEDDLE_STATS_DIR");
      int shown = StatsReader.read(file).size();
      assertTrue(shown >= 16 && shown < 100, "rows: " + shown);
      assertEquals(StatsLayout.ERRORS, StatsReader.snapshot(file).errors().size());
    }
    assertEquals(List.of(), filesIn(folder));
  }

  @Test
  void readOnlyFileSystemCostsOnlyTheStatistics() throws Exception {
    mount("ro,size=1m");
    try (StatsFile stats = open()) {
      count(stats, 100);
      assertNull(stats.path());
      assertNull(stats.orders());
      assertWarnedOnce("Read-only", "HEDDLE_STATS_DIR");
    }
  }

  @Test
  void existingReadOnlyFolderCostsOnlyTheStatistics() throws Exception {
    mount("size=1m");
    open().close();
    assertEquals(0, OtherUser.run("mount", "-o", "remount,ro", folder.toString()));
    try (StatsFile stats = open()) {
      count(stats, 100);
      assertNull(stats.path());
      assertWarnedOnce("Read-only");
    }
  }

  @Test
  void jobRunsWithoutSharedMemory() {
    try (StatsFile stats =
        new StatsFile(null, folder.resolve("none"), (level, sentence) -> logged.add(sentence))) {
      count(stats, 100);
      assertNull(stats.path());
      assertWarnedOnce("doesn't exist");
    }
  }

  @Test
  void configuredFolderThatCannotBeCreatedCostsOnlyTheStatistics() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    try (StatsFile stats =
        new StatsFile(file.resolve("sub"), folder, (level, sentence) -> logged.add(sentence))) {
      count(stats, 100);
      assertNull(stats.path());
      assertWarnedOnce(file.toString());
    }
  }

  @Test
  void plantedFolderIsReportedAndAnotherOneUsed() throws Exception {
    OtherUser.skipUnlessRoot();
    String name = "heddle-" + System.getProperty("user.name");
    Path planted = OtherUser.giveToOther(Files.createDirectory(folder.resolve(name)));
    try (StatsFile stats = open()) {
      assertEquals(folder.resolve(name + "-2"), stats.path().getParent());
      assertWarnedOnce(planted.toString(), "user " + OtherUser.USER, name + "-2");
    }
    assertEquals(List.of(), filesIn(folder));
  }

  @Test
  void linkAtTheFilesNameIsReplacedAndNeverFollowed() throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "untouched");
    Path target = Files.createDirectory(folder.resolve("stats"));
    try (StatsFile stats =
        new StatsFile(target, folder, (level, sentence) -> logged.add(sentence))) {
      Path file = stats.path();
      assertNotNull(file);
      Path unfinished = Path.of(file + ".new");
      stats.close();
      Files.delete(file);
      Files.createSymbolicLink(file, victim);
      Files.createSymbolicLink(unfinished, victim);
    }
    try (StatsFile again =
        new StatsFile(target, folder, (level, sentence) -> logged.add(sentence))) {
      assertFalse(Files.isSymbolicLink(again.path()));
      count(again, 20);
    }
    assertEquals("untouched", Files.readString(victim));
    assertEquals(List.of(), logged);
  }
}
