package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of the handling of unexpected failures in a thread. */
@EndsWithin(60)
class ResilientThreadTest {
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Log log = (level, sentence) -> lines.add(level + " " + sentence);

  static Stream<Throwable> unexpectedFailures() {
    return Stream.of(
        new OutOfMemoryError("as asked"),
        new StackOverflowError("as asked"),
        new AssertionError("as asked"),
        new NoClassDefFoundError("as asked"),
        new InternalError("as asked"),
        new IllegalStateException("as asked\nin two lines"),
        new IOException("as asked"));
  }

  @SuppressWarnings("unchecked") /* the compiler treats the exception as unchecked */
  private static <T extends Throwable> void raise(Throwable thrown) throws T {
    throw (T) thrown;
  }

  private String line() throws InterruptedException {
    String line = lines.poll(50, TimeUnit.SECONDS);
    assertNotNull(line, "a line");
    return line;
  }

  @ParameterizedTest
  @MethodSource("unexpectedFailures")
  void failureIsLoggedInOneLineAndThreadContinues(Throwable thrown) throws InterruptedException {
    AtomicInteger rounds = new AtomicInteger();
    ResilientThread thread =
        new ResilientThread(
            "a-thread",
            log,
            () -> {
              if (rounds.incrementAndGet() == 2) {
                ResilientThreadTest.<RuntimeException>raise(thrown);
              }
              return rounds.get() < 4;
            });
    thread.start();
    thread.joinUninterruptibly();
    assertEquals(4, rounds.get());
    String line = line();
    assertTrue(
        line.startsWith(
            "WARN a-thread: continues after: " + thrown.toString().replace('\n', ' ') + " at "),
        line);
    assertFalse(line.contains("\n"), line);
    assertTrue(lines.isEmpty(), lines::toString);
  }

  @Test
  void persistentFailureRunsHandlerOnce() throws InterruptedException {
    AtomicInteger rounds = new AtomicInteger();
    AtomicInteger told = new AtomicInteger();
    CountDownLatch twice = new CountDownLatch(2);
    ResilientThread thread =
        new ResilientThread(
                "a-thread",
                log,
                () -> {
                  if (told.get() > 1) {
                    return false;
                  }
                  throw new AssertionError("round " + rounds.incrementAndGet());
                })
            .onPersistentFailure(() -> {
              twice.countDown();
              if (told.incrementAndGet() == 1) {
                throw new OutOfMemoryError("as asked");
              }
            });
    thread.start();
    assertTrue(twice.await(50, TimeUnit.SECONDS), "a failed handler is retried");
    thread.joinUninterruptibly();
    assertEquals(ResilientThread.MOST_FAILURES, rounds.get());
    List<String> all = new ArrayList<>(lines);
    /* A repeated failure is logged at its first, second, fourth and eighth occurrence. */
    assertEquals(
        4, all.stream().filter(line -> line.contains("continues after")).count(), all::toString);
    assertTrue(all.stream().anyMatch(line -> line.contains("fails in every round")), all::toString);
  }

  @Test
  void throwingLogIsRetriedOnceAndStopsNothing() {
    List<String> heard = new ArrayList<>();
    Log fragile =
        (level, sentence) -> {
          heard.add(sentence);
          throw new OutOfMemoryError("no room for a line");
        };
    AtomicInteger rounds = new AtomicInteger();
    ResilientThread thread =
        new ResilientThread(
            "a-thread",
            fragile,
            () -> {
              if (rounds.incrementAndGet() == 1) {
                throw new OutOfMemoryError("as asked");
              }
              return false;
            });
    thread.start();
    thread.joinUninterruptibly();
    assertEquals(2, rounds.get());
    assertEquals("a-thread: unexpected error; no memory is left to describe it", heard.getLast());
  }

  @Test
  void failingHandlerIsReportedAndReturnsFalse() throws InterruptedException {
    FaultReporter faults = new FaultReporter("a-thread", log);
    boolean whole =
        faults.reportAndHandle(
            "a task failed",
            new IllegalStateException("first"),
            first -> {
              throw new AssertionError("second");
            });
    assertFalse(whole);
    assertTrue(line().contains("a task failed: java.lang.IllegalStateException: first"));
    assertTrue(line().contains("handling the failure failed: java.lang.AssertionError: second"));
  }

  /**
   * Tests a process whose heap is completely full: it still prints its thread's report, and that
   * the thread continued.
   */
  @Test
  void fullHeapIsReported() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx16m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                FullHeap.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.contains("full: continues after: java.lang.OutOfMemoryError: Java heap"), said);
    assertTrue(said.contains("and went on"), said);
  }

  /**
   * Program that fills its heap on a ResilientThread, to the last sixteen bytes, and keeps it full.
   */
  static final class FullHeap {
    private static Object[] hoard = new Object[1 << 17];

    private FullHeap() {}

    public static void main(String[] arguments) {
      AtomicInteger rounds = new AtomicInteger();
      ResilientThread thread =
          new ResilientThread(
              "full",
              Log.toStandardError(),
              () -> {
                if (rounds.incrementAndGet() == 1) {
                  fill();
                }
                return false;
              });
      thread.start();
      thread.joinUninterruptibly();
      hoard = null;
      System.out.println("and went on: " + rounds.get());
    }

    private static void fill() {
      int at = 0;
      for (int bytes = 1 << 20; bytes >= 16; ) {
        try {
          hoard[at] = new byte[bytes - 16];
          at++;
        } catch (OutOfMemoryError tooLarge) {
          bytes /= 2;
        }
      }
      throw new OutOfMemoryError("Java heap is full");
    }
  }

  @Test
  void refusedThreadNamesLimit() {
    Thread refused =
        new Thread("heddle-test") {
          @Override
          public void start() {
            throw new OutOfMemoryError("unable to create native thread");
          }
        };
    HeddleException told =
        assertThrows(HeddleException.class, () -> ResilientThread.start(refused));
    String said = String.valueOf(told.getMessage());
    assertTrue(said.startsWith("can't start thread heddle-test: unable to create"), said);
    assertTrue(
        said.matches(".*ulimit -u is (unlimited|[0-9]+), ulimit -v is .*; pids.max.*"), said);
  }
}
