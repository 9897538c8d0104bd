package io.heddle.verbs;

import io.heddle.platform.Errno;

/** Where work completions of any number of queue pairs arrive. */
public interface CompletionQueue extends AutoCloseable {
  DeviceContext context();

  /**
   * Takes up to {@code completions.length} completions, oldest first, into the given reusable
   * objects. Doesn't make the device progress: {@link DeviceContext#progress} does. One thread at a
   * time; no allocation.
   *
   * @return how many were taken, or a negative errno when the queue has overrun
   */
  int poll(WorkCompletion[] completions);

  /**
   * Has a number in native memory grow whenever completions are added from now on, until this queue
   * is closed, for those who aren't in Java: while it stays, a poll finds nothing new. Before the
   * queue is used.
   *
   * @param address 8 bytes, a multiple of 8
   * @return false where the device can't tell it
   */
  default boolean tellNewsAt(long address) {
    return false;
  }

  /** What {@link #arm} makes readable; −1 where the queue wasn't made for that. */
  default int descriptor() {
    return -1;
  }

  /**
   * Has the next completion make the descriptor readable, once. What has come by now doesn't, so
   * whoever wants to sleep polls again behind it. The polling thread; no allocation.
   */
  default void arm() {
    throw new VerbsException(
        "req_notify_cq", context().device().name() + ", a queue without channel", Errno.EINVAL);
  }

  @Override
  void close();
}
