package io.heddle.transport;

import io.heddle.platform.Log;
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
public final class LastMessages {
  private static final long PAUSE_NS = 50_000;

  /* Where the processors are busy with others, looks come late, and so may the threads that have more to send. */
  private static final int QUIET_LOOKS = 20;

  private final Supplier<List<Communicator>> open;
  private final Log log;

  /**
   * @param open the communicators that there are, asked for again and again
   */
  public LastMessages(Supplier<List<Communicator>> open, Log log) {
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
    long start = System.nanoTime();
    List<Communicator> unfinished = new ArrayList<>();
    for (int quiet = 0; quiet < QUIET_LOOKS; quiet++) {
      if (System.nanoTime() - start > budgetNs) {
        tell(unfinished, budgetNs);
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
      }
      LockSupport.parkNanos(unfinished.isEmpty() ? quietNs / QUIET_LOOKS : PAUSE_NS);
    }
    return true;
  }

  private void tell(List<Communicator> unfinished, long budgetNs) {
    if (!unfinished.isEmpty()) {
      log.warn(
          "the process ends though, after %s ms, requests of its %s aren't finished; the other end"
              + " has them fail",
          budgetNs / 1_000_000, unfinished.stream().map(Communicator::name).toList());
    }
  }
}
