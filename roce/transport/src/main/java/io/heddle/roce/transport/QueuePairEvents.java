package io.heddle.roce.transport;

import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * Callbacks from a queue pair's transport to its owner: completions, failure, timers. They are
 * called for each packet, so at most two implementations are loaded, which the JIT compiler can
 * inline. Used under the progress lock.
 */
public interface QueuePairEvents {
  QueuePairState state();

  /** Returns whether the state is ERROR. */
  boolean isInError();

  /**
   * Moves the queue pair to ERROR, raises an event and flushes all requests. Does nothing if the
   * queue pair is already in ERROR.
   */
  void fail(AsyncEventListener.Kind kind);

  /**
   * Completes a send request. May move the queue pair to ERROR, if the completion overruns its
   * completion queue.
   */
  void completeSend(long id, Status status, Kind kind, int lengthBytes);

  /**
   * Completes a receive. May move the queue pair to ERROR, if the completion overruns its
   * completion queue.
   */
  void completeReceive(
      long id, Status status, Kind kind, int lengthBytes, boolean hasImmediate, int immediate);

  /** Asks the device to call this queue pair for its timers, at this time at the latest. */
  void timerAt(long whenNs);

  /**
   * Asks the device to call this queue pair for transmission, because there is something to send.
   */
  void activate();

  /**
   * Delays an acknowledgement by up to this number of polling rounds, so that a packet can carry
   * it.
   */
  void waitRounds(int rounds);

  /** Returns whether no caller polls the device at present. */
  boolean areCallersIdle();

  /** Returns the longest time that the current packet may have waited in its socket. */
  long longestSocketWaitNs();
}
