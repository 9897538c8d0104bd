package io.heddle.verbs;

import io.heddle.platform.Errno;

/** Queue of work completions for any number of queue pairs (ibv_cq). */
public interface CompletionQueue extends AutoCloseable {
  DeviceContext context();

  /**
   * Takes up to {@code completions.length} completions, oldest first, into the given reusable
   * objects. Doesn't drive the device; {@link DeviceContext#progress} does. Called by one thread at
   * a time; allocates nothing.
   *
   * @return number of completions taken, or a negative errno if the queue has overrun
   */
  int poll(WorkCompletion[] completions);

  /**
   * Publishes a counter in native memory that grows whenever completions are added, until this
   * queue is closed. Native code can skip a poll while the counter is unchanged. Must be called
   * before the queue is used.
   *
   * @param address address of the counter's 8 bytes, a multiple of 8
   * @return false if the device can't publish the counter
   */
  default boolean publishArrivalsAt(long address) {
    return false;
  }

  /**
   * Returns the descriptor that becomes readable after {@link #arm} when a completion arrives; −1
   * for a queue without completion channel.
   */
  default int descriptor() {
    return -1;
  }

  /**
   * Requests a notification: the next completion makes the descriptor readable, once. Completions
   * already in the queue don't make it readable, so poll again after this call and before sleeping.
   * Called by the polling thread; allocates nothing.
   */
  default void arm() {
    throw new VerbsException(
        "req_notify_cq",
        context().device().name() + ", completion queue without completion channel",
        Errno.EINVAL);
  }

  @Override
  void close();
}
