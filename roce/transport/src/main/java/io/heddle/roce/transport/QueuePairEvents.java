package io.heddle.roce.transport;

import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * What the transport of a queue pair tells its owner, and asks of it: completions, failure, when it
 * is to be called again. At most two implementations are loaded, since this is called for each
 * packet. Under the progress lock.
 */
public interface QueuePairEvents {
  QueuePairState state();

  /** Whether the state is ERROR. */
  boolean isDead();

  /** To ERROR on the transport's own motion, where it isn't there: an event, and all is flushed. */
  void fail(AsyncEventListener.Kind kind);

  /** A send request ends. May end the queue pair: the completion may overrun its queue. */
  void completeSend(long id, Status status, Kind kind, int lengthBytes);

  /** A receive ends. May end the queue pair: the completion may overrun its queue. */
  void completeReceive(
      long id, Status status, Kind kind, int lengthBytes, boolean hasImmediate, int immediate);

  /** A timer is due then, or earlier. */
  void timerAt(long whenNs);

  /** There is something to send. */
  void activate();

  /** An acknowledgement may wait that many rounds for a packet that carries it. */
  void waitRounds(int rounds);

  /** Whether nobody makes rounds who looks for completions. */
  boolean callersAreGone();

  /** How long the packet in hand may have lain in its socket at most. */
  long waitedNs();
}
