package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.DeviceTrial.Verdict;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Tests the zero-copy trial on this host, and with missing features. */
class ZeroCopyTrialTest {
  private static final String KERNEL = System.getProperty("os.version");

  private static void assumeZeroCopy() {
    if (!PagePipe.supportsPages(KERNEL)) {
      String why = "this kernel copies what comes out of a pipe";
      System.out.println("skipped: " + why);
      Assumptions.abort(why);
    }
  }

  @Test
  void olderKernelIsNamedWithRemedy() {
    DeviceTrial trial = ZeroCopyTrial.run("5.15.0-91-generic");
    assertEquals(Verdict.SLOWER, trial.verdict());
    assertTrue(trial.sentence().contains("5.15.0-91-generic"), trial.toString());
    assertTrue(trial.remedy().contains("6.6"), trial.toString());
  }

  @Test
  void smallPipeIsReported() {
    assumeZeroCopy();
    try (Arena arena = Arena.ofConfined()) {
      PagePipe pages = PagePipe.open(arena, KERNEL);
      long page = Memory.allocate(arena, PagePipe.PAGE_BYTES, PagePipe.PAGE_BYTES);
      var capture = LinuxCalls.errnoCapture();
      LinuxCalls.write(capture, pages.writeEnd(), page, PagePipe.PAGE_BYTES);
      DeviceTrial trial = ZeroCopyTrial.run(arena, pages);
      assertEquals(Verdict.SLOWER, trial.verdict());
      assertTrue(trial.remedy().contains("fs.pipe-user-pages-soft"), trial.toString());
      assertEquals(Verdict.WORKS, ZeroCopyTrial.run(arena, pages).verdict(), "it is empty again");
    }
  }

  @Test
  void failedCallIsNamed() {
    assumeZeroCopy();
    try (Arena arena = Arena.ofConfined()) {
      long cells = Memory.allocate(arena, 24, 8);
      Memory.ALL.set(Memory.NATIVE_LONG, cells + 16, -1); /* neither descriptor is a pipe's end */
      long sink = Memory.allocate(arena, PagePipe.PAGE_BYTES, 8);
      DeviceTrial trial = ZeroCopyTrial.run(arena, new PagePipe(cells, sink));
      assertEquals(Verdict.SLOWER, trial.verdict());
      assertTrue(trial.sentence().contains("EBADF"), trial.toString());
    }
  }
}
