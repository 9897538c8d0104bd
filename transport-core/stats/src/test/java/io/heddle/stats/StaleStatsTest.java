package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
  void fileOfAnEndedProcessIsRemoved() throws Exception {
    remove();
    assertFalse(Files.exists(ofDeadProcess));
  }

  @Test
  void unfinishedFileOfAnEndedProcessIsRemoved() throws Exception {
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
  void lockedFileStaysDespiteAnUnknownProcessNumber() throws Exception {
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

  /* Number of a PID namespace that isn't this process's. */
  private static final String ELSEWHERE = "4026599999";

  @Test
  void endedProcessOfAnotherNamespaceIsGoneDespiteAReusedNumber() throws Exception {
    long living = ProcessHandle.current().pid();
    Path here =
        Files.createFile(folder.resolve(living + "." + StatsFile.ownNamespace() + ".stats"));
    Path there = Files.createFile(folder.resolve(living + "." + ELSEWHERE + ".stats"));
    Path begun = Files.createFile(folder.resolve(living + "." + ELSEWHERE + ".stats.new"));
    assertFalse(StatsReader.hasEnded(here));
    assertTrue(StatsReader.hasEnded(there));
    remove();
    assertTrue(Files.exists(here));
    assertFalse(Files.exists(there) || Files.exists(begun));
  }

  /*
   * The process that holds the file's lock runs in another PID namespace and shares this folder,
   * like a process in another container of the host.
   */
  @Test
  void livingProcessOfAnotherNamespaceKeepsItsFile() throws Exception {
    Process holder =
        new ProcessBuilder(
                "unshare",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "python3",
                "-c",
                "import fcntl,os,sys; n=os.readlink('/proc/self/ns/pid')[5:-1];"
                    + " p='%s/%d.%s.stats'%(sys.argv[1],os.getpid(),n); f=open(p,'w+');"
                    + " fcntl.lockf(f,fcntl.LOCK_EX); print(p,flush=True); sys.stdin.read();"
                    + " os.kill(os.getpid(),9) or os._exit(3)",
                folder.toString())
            .redirectErrorStream(true)
            .start();
    String output = String.valueOf(holder.inputReader().readLine());
    assumeTrue(output.endsWith(".stats"), "no namespace can be created here: " + output);
    Path file = Path.of(output);
    assertTrue(file.getFileName().toString().startsWith("1."), output);
    assertFalse(StatsReader.hasEnded(file), "it holds its lock");
    remove();
    assertTrue(Files.exists(file));
    holder.getOutputStream().close();
    holder.waitFor();
    assertTrue(StatsReader.hasEnded(file), "process 1 is another process here");
    remove();
    assertFalse(Files.exists(file));
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
