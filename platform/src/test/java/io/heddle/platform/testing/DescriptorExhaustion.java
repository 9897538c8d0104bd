package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Harness for descriptor exhaustion: runs a trial with 0, 1, 2 and so on free descriptors, and
 * checks after each trial that no descriptor has leaked. Nothing else in the process may open
 * descriptors.
 */
public final class DescriptorExhaustion {
  /** Number of free descriptors at the last trial. */
  private static final int MOST = 48;

  private static final int LIMIT = 256;
  private static final int CLOEXEC = 0x80000;

  private final Deque<Integer> taken = new ArrayDeque<>();

  private DescriptorExhaustion() {}

  /**
   * Runs a program that calls {@link #mostRefused}, with a low limit of descriptors. Asserts that
   * the program succeeds, and returns its output.
   */
  public static String run(Path output, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    List<String> limited = List.of("prlimit", "--nofile=" + LIMIT + ":" + LIMIT);
    SeparateJvm.End end = SeparateJvm.run(output, limited, List.of(), program, arguments);
    assertEquals(0, end.status(), end.output());
    return end.output();
  }

  /**
   * Repeats a trial, each time with one more free descriptor. The program must have been started by
   * {@link #run}.
   *
   * @param trial action that opens and closes descriptors, perhaps in threads that it ends; returns
   *     false if it couldn't open all of them
   * @return largest number of free descriptors with which the trial failed; -1 if it never did
   * @throws AssertionError if a trial leaks descriptors, or closes some that it didn't open
   */
  public static int mostRefused(BooleanSupplier trial) {
    trial.getAsBoolean(); /* loads the trial's classes, for which descriptors are needed too */
    awaitThreads();
    return new DescriptorExhaustion().tryAll(trial);
  }

  private int tryAll(BooleanSupplier trial) {
    openRest();
    int all = taken.size();
    int refused = -1;
    for (int left = 0; left <= MOST; left++) {
      for (int i = 0; i < left; i++) {
        LinuxCalls.close(taken.pop());
      }
      if (!trial.getAsBoolean()) {
        refused = left;
      }
      awaitThreads();
      openRest();
      if (taken.size() != all) {
        throw new AssertionError(
            "of %s that were left it kept %s".formatted(left, all - taken.size()));
      }
    }
    return refused;
  }

  /*
   * Waits until no thread of Heddle runs. The wait has no limit, since a Deadline would need a
   * descriptor itself; the parent process ends a program that waits too long.
   */
  private static void awaitThreads() {
    while (Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("heddle-"))) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void openRest() {
    int fd = LinuxCalls.eventfd(0, CLOEXEC);
    while (fd >= 0) {
      taken.push(fd);
      fd = LinuxCalls.eventfd(0, CLOEXEC);
    }
    if (fd != -Errno.EMFILE) {
      throw new SystemCallException("eventfd", -fd);
    }
  }
}
