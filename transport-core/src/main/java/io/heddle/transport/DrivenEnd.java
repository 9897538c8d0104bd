package io.heddle.transport;

import io.heddle.transport.control.ControlMessage.Fenced;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Failover} asks of a communicator. Every method but {@link #baton} and {@link
 * #isSender} is called with the baton.
 */
interface DrivenEnd {
  Baton baton();

  boolean isSender();

  /** Takes what completions there are, as progress does. */
  void takeCompletions();

  /** One per queue pair; the array is the communicator's own. */
  SubFlow[] flows();

  /** Begins to use this sub-flow instead of the one with its index. */
  void replace(SubFlow fresh);

  /** What this end has to say of its fence. */
  Fenced fenced(String plane, int epoch);

  /**
   * Settles what was unknown about a plane that is fenced at both ends, and posts what is to be
   * posted again.
   *
   * @return why what the other end says can't be, and then nothing was changed; null where it can
   */
  @Nullable String settle(int plane, Fenced theirs);

  /** How often something had to be posted again since the beginning. */
  long replays();

  /** Whether some request isn't finished. */
  boolean hasPending();

  /** Ends the communicator, with this result for NCCL. */
  void fail(int result, String story);
}
