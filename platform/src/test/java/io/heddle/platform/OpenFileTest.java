package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenFileTest {
  private static final int CHILDREN = 100;

  @TempDir Path folder;

  private OpenFile open(OpenFolder in) {
    return in.openOrCreate("lock", 0600);
  }

  @Test
  void exclusiveLockRefusesSecondOpener() {
    try (OpenFolder in = OpenFolder.parentOf(folder.resolve("lock"));
        OpenFile first = open(in);
        OpenFile second = open(in)) {
      assertTrue(first.tryLockExclusively());
      assertFalse(second.tryLockExclusively());
      first.close();
      assertTrue(second.tryLockExclusively());
    }
  }

  /* Between fork and exec, a child process shares all descriptors, and so the locks on them. */
  @Test
  void closingReleasesLockWhileOtherThreadsStartProcesses() throws Exception {
    CompletableFuture<Integer> children =
        CompletableFuture.supplyAsync(() -> {
          try {
            for (int i = 0; i < CHILDREN; i++) {
              assertEquals(0, new ProcessBuilder("/bin/true").start().waitFor());
            }
          } catch (Exception failed) {
            throw new IllegalStateException(failed);
          }
          return CHILDREN;
        });
    try (OpenFolder in = OpenFolder.parentOf(folder.resolve("lock"))) {
      for (int round = 0; !children.isDone(); round++) {
        try (OpenFile file = open(in)) {
          assertTrue(file.tryLockExclusively(), "round " + round);
        }
      }
    }
    assertEquals(CHILDREN, children.get(1, TimeUnit.SECONDS));
  }
}
