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
 * What becomes of something that takes descriptors where its process has none left, or one, or two,
 * and so on: whatever step is refused, nothing of those before it stays. For a program of its own,
 * which has no other use for descriptors.
 */
public final class DescriptorExhaustion {
  /** So many are left at the last trial. */
  private static final int MOST = 48;

  private static final int LIMIT = 256;
  private static final int CLOEXEC = 0x80000;

  private final Deque<Integer> taken = new ArrayDeque<>();

  private DescriptorExhaustion() {}

  /** Runs such a program to its end without a fault; what it printed. */
  public static String run(Path output, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    List<String> limited = List.of("prlimit", "--nofile=" + LIMIT + ":" + LIMIT);
    SeparateJvm.End end = SeparateJvm.run(output, limited, List.of(), program, arguments);
    assertEquals(0, end.status(), end.printed());
    return end.printed();
  }

  /**
   * In such a program: tries this again and again, each time with one descriptor more left than
   * before.
   *
   * @param trial takes some and gives them back, if by threads of ours that come to their end;
   *     false where it was refused some
   * @return how many it was refused, at the most
   * @throws AssertionError where a trial keeps some, or has closed some of others
   */
  public static int mostRefused(BooleanSupplier trial) {
    trial.getAsBoolean(); /* the classes that it takes are files, too */
    awaitThreads();
    return new DescriptorExhaustion().tryAll(trial);
  }

  private int tryAll(BooleanSupplier trial) {
    takeRest();
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
      takeRest();
      if (taken.size() != all) {
        throw new AssertionError(
            "of %s that were left it kept %s".formatted(left, all - taken.size()));
      }
    }
    return refused;
  }

  /* Who runs this program ends the wait: a limit that a busy machine stretches would take a descriptor itself. */
  private static void awaitThreads() {
    while (Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("heddle-"))) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void takeRest() {
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
