package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.OpenFolder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StaleStatsTest {
  @TempDir Path folder;

  private Path ofDeadProcess;

  @BeforeEach
  void leaveAFileBehind() throws Exception {
    Process process = new ProcessBuilder("true").start();
    process.waitFor();
    ofDeadProcess = Files.createFile(folder.resolve(process.pid() + ".stats"));
  }

  private void remove() throws Exception {
    try (OpenFolder open = OpenFolder.open(folder)) {
      StaleStats.remove(open);
    }
  }

  @Test
  void theFileOfAProcessThatIsGoneIsRemoved() throws Exception {
    remove();
    assertFalse(Files.exists(ofDeadProcess));
  }

  @Test
  void aFileThatADeadProcessBeganIsRemoved() throws Exception {
    Path begun = Files.createFile(Path.of(ofDeadProcess + ".new"));
    remove();
    assertFalse(Files.exists(begun));
  }

  @Test
  void theFileOfALivingProcessStays() throws Exception {
    Path mine = Files.createFile(folder.resolve(ProcessHandle.current().pid() + ".stats"));
    remove();
    assertTrue(Files.exists(mine));
  }

  @Test
  void aLockedFileStaysThoughItsNumberIsNobodysHere() throws Exception {
    Process holder =
        new ProcessBuilder(
                "python3",
                "-c",
                "import fcntl,sys; f=open(sys.argv[1],'r+'); fcntl.lockf(f,fcntl.LOCK_EX);"
                    + " print('locked',flush=True); sys.stdin.read()",
                ofDeadProcess.toString())
            .start();
    try {
      assertEquals("locked", holder.inputReader().readLine());
      remove();
      assertTrue(Files.exists(ofDeadProcess));
    } finally {
      holder.getOutputStream().close();
      holder.waitFor();
    }
    remove();
    assertFalse(Files.exists(ofDeadProcess));
  }

  @Test
  void otherFilesAreLeftAlone() throws Exception {
    Path notes = Files.createFile(folder.resolve("notes.stats"));
    Path other = Files.createFile(folder.resolve("1.txt"));
    remove();
    assertTrue(Files.exists(notes) && Files.exists(other));
  }

  @Test
  void anOpenStatisticsFileIsLockedForOthers() throws Exception {
    StatsFile stats = new StatsFile(folder, (level, sentence) -> {});
    Process prober =
        new ProcessBuilder(
                "python3",
                "-c",
                "import fcntl,sys; f=open(sys.argv[1],'r+');"
                    + " fcntl.lockf(f,fcntl.LOCK_EX|fcntl.LOCK_NB)",
                stats.path().toString())
            .start();
    assertEquals(1, prober.waitFor(), "another process got the lock");
    stats.close();
    try (FileChannel channel = FileChannel.open(stats.path(), StandardOpenOption.WRITE)) {
      assertTrue(channel.tryLock() != null);
    }
  }
}
