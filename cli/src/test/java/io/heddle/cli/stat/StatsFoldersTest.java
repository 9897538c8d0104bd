package io.heddle.cli.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.ProcessCalls;
import io.heddle.platform.testing.Requirements;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the search for statistics in shared memory, where every user may create files and
 * folders.
 */
class StatsFoldersTest {
  private static final int OTHER = 65_534;

  @TempDir private Path sharedMemory;
  @TempDir private Path elsewhere;

  private final List<StatsFile> files = new ArrayList<>();
  private StatsFolders folders;

  @BeforeEach
  void look() {
    folders = StatsFolders.in(sharedMemory);
  }

  @AfterEach
  void close() {
    files.forEach(StatsFile::close);
  }

  private Path job(Path folder) {
    StatsFile file = new StatsFile(folder, (level, sentence) -> {});
    files.add(file);
    return file.path();
  }

  private List<Path> found() {
    return folders.read(null).processes().stream().map(ProcessStats::file).toList();
  }

  private static void giveToOther(Path file) throws IOException {
    if (ProcessCalls.geteuid() != 0) {
      Requirements.skipWhere("only root can make files of another user");
    }
    Files.setAttribute(file, "unix:uid", OTHER, LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void foldersOfAllUsersAreRead() throws Exception {
    Path ours = job(sharedMemory.resolve("heddle-ours"));
    assertEquals(List.of(ours), found());
    giveToOther(ours.getParent());
    assertEquals(List.of(ours), found());
  }

  @Test
  void linksAndWorldWritableFoldersAreSkippedAndReported() throws Exception {
    job(elsewhere);
    Files.createSymbolicLink(sharedMemory.resolve("heddle-link"), elsewhere);
    Path open = job(sharedMemory.resolve("heddle-open")).getParent();
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    StatsFolders.Found found = folders.read(null);
    assertEquals(List.of(), found.processes());
    assertEquals(2, found.unreadable().size(), found.unreadable().toString());
    String told = found.unreadable().toString();
    assertTrue(told.contains("heddle-link is skipped: it is a link of user "), told);
    assertTrue(told.contains("heddle-open is skipped: it is a folder of user "), told);
  }

  @Test
  void jobsOfARunAreFoundWhileItLasts() {
    Path own = job(elsewhere.resolve("spray"));
    try (RunNotice notice = RunNotice.create(elsewhere, sharedMemory)) {
      assertTrue(Files.exists(notice.path()));
      assertEquals(List.of(own), found());
      assertEquals(List.of(elsewhere.resolve("spray")), folders.ofOwnJobs().folders());
    }
    assertEquals(List.of(), found());
  }

  @Test
  void noticeCoversFoldersOfItsOwnUserOnly() throws Exception {
    job(elsewhere);
    try (RunNotice notice = RunNotice.create(elsewhere, sharedMemory)) {
      giveToOther(notice.path());
      assertEquals(List.of(), found());
    }
  }

  @Test
  void noticeOfAKilledCommandIsRemovedByTheNext() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();
    Path left = sharedMemory.resolve("heddle-uid0.run-" + ended.pid() + "-1");
    Files.writeString(left, elsewhere + "\n");
    Path foreign = sharedMemory.resolve("heddle-uid0.run-none");
    Files.writeString(foreign, elsewhere + "\n");
    RunNotice.create(elsewhere, sharedMemory).close();
    assertFalse(Files.exists(left));
    assertTrue(Files.exists(foreign));
  }
}
