package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test that killed tests leave no processes behind. */
@EndsWithin(60)
final class HostProcessTest {
  private static final long LIMIT_SECONDS = 30;

  @TempDir private Path folder;

  /** Program in the role of a test JVM: it starts an endless process from a thread that ends. */
  static final class Tests {
    private Tests() {}

    public static void main(String[] arguments) throws Exception {
      Path log = Path.of(arguments[0]);
      Thread thread =
          new Thread(() -> {
            try {
              HostProcess process = HostProcess.start(List.of("sleep", "600"), log, Map.of());
              System.out.println("pid " + process.pid() + " ");
            } catch (java.io.IOException failed) {
              throw new java.io.UncheckedIOException(failed);
            }
          });
      thread.start();
      thread.join();
      TimeUnit.SECONDS.sleep(LIMIT_SECONDS);
    }
  }

  @Test
  void processEndsWithKilledTests() throws Exception {
    Path log = Files.createTempFile(folder, "sleep", ".log");
    try (HostProcess tests =
        HostProcess.start(
            HostProcess.java(Tests.class, log.toString()), folder.resolve("log"), Map.of())) {
      tests.awaitOutput("pid ", LIMIT_SECONDS);
      tests.awaitOutput(" \n", LIMIT_SECONDS);
      long pid = Long.parseLong(tests.output().replaceAll("(?s).*pid (\\d+).*", "$1"));
      Optional<ProcessHandle> left = ProcessHandle.of(pid);
      assertTrue(left.map(ProcessHandle::isAlive).orElse(false), "it ended before");
      tests.kill();
      assertEquals(137, tests.exitCode(LIMIT_SECONDS));
      Deadline.ofSeconds(LIMIT_SECONDS).get(left.orElseThrow().onExit());
    }
  }
}
