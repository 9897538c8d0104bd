package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Drain at the end of a process that doesn't close its communicators. Before the process may end,
 * requests in flight on its communicators must reach the peers, or turn out to be unfinishable.
 *
 * <p>An accepted send is driven to its last acknowledgement, backlog included. A receive is driven
 * to its last byte, since a GPU may use the data before {@code test} is called. Other threads keep
 * running and may send more, so the drain ends only after a quiet period. A send that was refused
 * for lack of its receive counts as work that a thread will retry. Requests with a peer that is
 * gone are not waited for.
 */
public final class ShutdownDrain {
  private static final long PAUSE_NS = 50_000;

  private static final int QUIET_POLLS = 20;

  /*
   * A thread with more to send may wait for a processor for longer than the quiet period. So the
   * process isn't quiet while one of its threads is ready to run. The number of such polls is
   * limited, since some hosts have threads that never sleep.
   */
  private static final int MAX_BUSY_POLLS = 200;

  private final Supplier<List<Communicator>> open;
  private final NanoClock clock;
  private final Log log;

  /**
   * @param open supplies the present communicators, called repeatedly
   */
  public ShutdownDrain(Supplier<List<Communicator>> open, NanoClock clock, Log log) {
    this.clock = clock;
    this.open = open;
    this.log = log;
  }

  /**
   * Drives the communicators on the calling thread until all of them are quiet.
   *
   * @param budgetNs longest wait
   * @param quietNs required time without a request in flight; longer on a busy host
   * @return false if requests were still unfinished after the longest wait
   */
  public boolean await(long budgetNs, long quietNs) {
    long start = clock.nanoTime();
    int busyPolls = 0;
    List<Communicator> unfinished = new ArrayList<>();
    for (int quiet = 0; quiet < QUIET_POLLS; quiet++) {
      if (clock.nanoTime() - start > budgetNs) {
        logUnfinished(unfinished, budgetNs);
        return unfinished.isEmpty();
      }
      unfinished.clear();
      for (Communicator each : open.get()) {
        if (each.isUnfinished()) {
          unfinished.add(each);
        }
      }
      if (!unfinished.isEmpty()) {
        quiet = -1;
      } else if (busyPolls < MAX_BUSY_POLLS && isOtherThreadReady()) {
        busyPolls++;
        quiet--;
      }
      LockSupport.parkNanos(unfinished.isEmpty() ? quietNs / QUIET_POLLS : PAUSE_NS);
    }
    return true;
  }

  /* Returns whether another thread of this process is running or runnable; false without /proc. */
  private static boolean isOtherThreadReady() {
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      Path own = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
      for (Path thread : threads) {
        if (!thread.getFileName().equals(own) && isReady(thread)) {
          return true;
        }
      }
      return false;
    } catch (IOException | DirectoryIteratorException unknown) {
      return false;
    }
  }

  private static boolean isReady(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
      return stat.startsWith(") R", stat.lastIndexOf(')'));
    } catch (IOException ended) {
      return false;
    }
  }

  private void logUnfinished(List<Communicator> unfinished, long budgetNs) {
    if (!unfinished.isEmpty()) {
      log.warn(
          "the process ends though, after %s ms, requests of its %s aren't finished; they fail at"
              + " the other end",
          budgetNs / 1_000_000, unfinished.stream().map(Communicator::name).toList());
    }
  }
}
