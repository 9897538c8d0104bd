package io.heddle.verbs;

/**
 * Listener for the asynchronous events of a device (ibv_get_async_event). It runs on the control
 * thread.
 */
@FunctionalInterface
public interface AsyncEventListener {
  /** Kind of event (ibv_event_type). */
  enum Kind {
    DEVICE_FATAL,
    PORT_ACTIVE,
    PORT_ERROR,
    GID_CHANGE,

    /** LIDs, partitions or the subnet manager of an InfiniBand subnet may have changed. */
    SUBNET_CHANGE,
    COMPLETION_QUEUE_ERROR,
    QUEUE_PAIR_FATAL,
    QUEUE_PAIR_REQUEST_ERROR,
    QUEUE_PAIR_ACCESS_ERROR
  }

  /**
   * Handles one event.
   *
   * @param queuePairNumber number of the queue pair if the event concerns one, otherwise 0
   */
  void onAsyncEvent(Kind kind, int queuePairNumber);
}
