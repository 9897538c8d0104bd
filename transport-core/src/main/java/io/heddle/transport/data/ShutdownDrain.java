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
 * The end of a process that closes nothing: what its communicators have under way reaches the
 * peers, or is found to be in vain, before the process is allowed to end.
 *
 * <p>A send that was accepted is carried on to its last acknowledgement, backlog included, and a
 * receive to its last byte, since a GPU may have read what it waited for before {@code test} was
 * asked. Other threads live on meanwhile and may send more: only when none has done so for a while
 * is it the end. A send that was refused because its receive isn't there yet is one that a thread
 * goes on trying. What belongs to a peer that is gone is waited for no more.
 */
public final class ShutdownDrain {
  private static final long PAUSE_NS = 50_000;

  private static final int QUIET_POLLS = 20;

  /*
   * A thread that has more to send may wait for a processor that others have, longer than the quiet lasts: as long as one of
   * this process is ready to run, it isn't quiet. For so many looks at most, since some hosts have threads that never rest.
   */
  private static final int MAX_BUSY_POLLS = 200;

  private final Supplier<List<Communicator>> open;
  private final NanoClock clock;
  private final Log log;

  /**
   * @param open the communicators that there are, asked for again and again
   */
  public ShutdownDrain(Supplier<List<Communicator>> open, NanoClock clock, Log log) {
    this.clock = clock;
    this.open = open;
    this.log = log;
  }

  /**
   * Waits; on a thread that nothing else needs.
   *
   * @param budgetNs how long at most
   * @param quietNs for how long nothing has to have been under way; longer on a busy host
   * @return whether it was quiet in time
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

  /* Whether another thread of this process has or wants a processor. Without /proc nobody knows. */
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
          "the process ends though, after %s ms, requests of its %s aren't finished; the other end"
              + " has them fail",
          budgetNs / 1_000_000, unfinished.stream().map(Communicator::name).toList());
    }
  }
}
